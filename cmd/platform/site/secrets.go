package site

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// random returns n bytes of the site's source, which ends as little as crypto/rand does.
func (s *Site) random(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.opt.Random, b); err != nil {
		panic(err)
	}
	return b
}

// token returns n random letters and digits.
func (s *Site) token(n int) string {
	out := make([]byte, 0, n)
	for len(out) < n {
		if b := int(s.random(1)[0]); b < 256-256%len(alphabet) {
			out = append(out, alphabet[b%len(alphabet)])
		}
	}
	return string(out)
}

// hexToken returns n random bytes in hex.
func (s *Site) hexToken(n int) string { return hex.EncodeToString(s.random(n)) }

// sign is the hex HMAC-SHA256 of message.
func sign(key, message string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// stamp signs parts with the site's own secret, for cookies and nonces.
func (s *Site) stamp(parts ...string) string {
	return sign(s.secret, strings.Join(parts, "\x00"))
}

func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
