package signature

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/policytest"
)

// FuzzSignatureHeader: every accepted header has one spelling. Written again from the
// parsed values, it is the same.
func FuzzSignatureHeader(f *testing.F) {
	n := 0
	for _, h := range hooks() {
		_, value, _ := strings.Cut(h.headers[len(h.headers)-1], ": ")
		f.Add(h.scheme, value, standardID)
		n++
	}
	f.Add("timestamp", policytest.StampMAC, "")
	f.Add("stripe", "t=1,t=2,v1=", "")
	f.Add("stripe", "t=,t=0", "")
	f.Add("standard", "v1,", "a.b")
	if n == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, scheme, header, id string) {
		s, ok := schemes[scheme]
		if !ok {
			return
		}
		g := given{id: id}
		if !s.read(header, &g) {
			return
		}
		for _, mac := range g.macs {
			if len(mac) != 32 {
				t.Errorf("%q: a signature of %d bytes", header, len(mac))
			}
			if !strings.Contains(header, hex.EncodeToString(mac)) && !strings.Contains(header, base64.StdEncoding.EncodeToString(mac)) {
				t.Errorf("%q: %x does not stand there", header, mac)
			}
		}
		if scheme == "standard" && (g.id == "" || strings.ContainsAny(g.id, ". \n")) {
			t.Errorf("id %q", g.id)
		}
		if scheme == "stripe" && strings.Count(","+header, ",t=") != 1 {
			t.Errorf("%q has not one timestamp", header)
		}
	})
}

// FuzzSignature: only a valid header passes.
func FuzzSignature(f *testing.F) {
	all := hooks()
	if len(all) == 0 {
		f.Fatal("no seeds")
	}
	for name := range all {
		for _, h := range all {
			_, value, _ := strings.Cut(h.headers[len(h.headers)-1], ": ")
			f.Add(name, value)
		}
	}
	f.Fuzz(func(t *testing.T, name, header string) {
		h, ok := all[name]
		if !ok || strings.ContainsAny(header, "\r\n\x00") {
			return
		}
		s, p := signed(t, &Signature{Name: "cookie", Scheme: h.scheme, Keys: []string{"whsec_bm90IHRoZSBrZXkgb2YgYW55Ym9keQ=="}})
		field, _, _ := strings.Cut(h.headers[len(h.headers)-1], ": ")
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/hook", "", h.headers[:len(h.headers)-1]...)
		r.HTTP.Header[http.CanonicalHeaderKey(field)] = []string{header}
		r.Matched.Rule = signedRule(s)
		if v, err := p.Check(t.Context(), r); err != nil || !v.Refused() {
			t.Errorf("%s %q passes: %v", name, header, err)
		}
	})
}
