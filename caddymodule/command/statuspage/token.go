package statuspage

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// tokens makes and reads the tokens of one key. A token is a MAC, behind the name of the
// site if it is that of one site alone.
type tokens struct{ key []byte }

var text64 = base64.RawURLEncoding

// of returns the token that shows v.
func (t tokens) of(v view) string {
	mac := text64.EncodeToString(t.mac(v))
	if v.all() {
		return mac
	}
	return text64.EncodeToString([]byte(v.site)) + "." + mac
}

// view returns what a token shows; ok is false for a token that is none. Texts are compared
// and not MACs, since several texts of base64 stand for the same bytes.
func (t tokens) view(token string) (v view, ok bool) {
	if name, _, one := strings.Cut(token, "."); one {
		site, err := text64.DecodeString(name)
		if err != nil {
			return view{}, false
		}
		v.site = string(site)
	}
	return v, hmac.Equal([]byte(token), []byte(t.of(v)))
}

func (t tokens) mac(v view) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write([]byte("restwarden status\x00" + v.site))
	return h.Sum(nil)
}
