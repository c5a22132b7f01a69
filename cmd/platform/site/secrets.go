package site

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// token returns n random letters and digits.
func token(n int) string {
	out := make([]byte, 0, n)
	for b := make([]byte, 1); len(out) < n; {
		rand.Read(b)
		if int(b[0]) < 256-256%len(alphabet) {
			out = append(out, alphabet[int(b[0])%len(alphabet)])
		}
	}
	return string(out)
}

// hexToken returns n random bytes in hex.
func hexToken(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

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
