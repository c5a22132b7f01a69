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

// view returns what a token shows; ok is false for a token that is none.
func (t tokens) view(token string) (v view, ok bool) {
	name, mac, one := strings.Cut(token, ".")
	if !one {
		name, mac = "", token
	}
	site, err := text64.DecodeString(name)
	if err != nil || one && len(site) == 0 {
		return view{}, false
	}
	v.site = string(site)
	sum, err := text64.DecodeString(mac)
	return v, err == nil && hmac.Equal(sum, t.mac(v))
}

func (t tokens) mac(v view) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write([]byte("restwarden status\x00" + v.site))
	return h.Sum(nil)
}
