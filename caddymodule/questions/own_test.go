package questions

import (
	"crypto/tls"
	"maps"
	"slices"
	"testing"
)

// TestOwnBackend_Scheme: that a client uses https is all that is taken from its headers, and only
// where the connection does not tell.
func TestOwnBackend_Scheme(t *testing.T) {
	secure := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Ssl", "on", "X-Forwarded-Port", "443", "Cf-Visitor", `{"scheme":"https"}`}
	for name, test := range map[string]struct {
		headers []string
		tls     bool
		want    int
	}{
		"https in front":   {secure, false, 4},
		"https":            {secure, true, 0},
		"http":             {[]string{"X-Forwarded-Proto", "http", "X-Forwarded-Ssl", "off", "X-Forwarded-Port", "80", "Cf-Visitor", `{"scheme":"http"}`}, false, 0},
		"something else":   {[]string{"X-Forwarded-Proto", "https, x", "X-Forwarded-Ssl", "on ", "X-Forwarded-Port", "4430", "Cf-Visitor", "https"}, false, 0},
		"others by a name": {[]string{"User-Agent", "x", "X-Real-Ip", "192.0.2.7", "X-Forwarded-Host", "x"}, false, 0},
	} {
		r, vars := prepared(test.headers...)
		if r.TLS = nil; test.tls {
			r.TLS = new(tls.ConnectionState)
		}
		b := new(Site).Own(r, vars, nil)
		if got := slices.Sorted(maps.Keys(b.header)); len(got) != test.want+1 || b.header.Get("User-Agent") != OwnAgent {
			t.Errorf("%s: %v", name, b.header)
		}
	}
}
