package policies

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// The signatures below were computed with OpenSSL:
// printf 1800000000 | openssl dgst -sha256 -hmac secret
// printf '1800000000\nPOST\n/cookie/v1/store-auth\n%s' "$(printf '{"a":1}' | sha256sum | cut -c1-64)" | openssl dgst -sha256 -hmac secret
const (
	requestMAC = "c1975c08247f97d30337d942688e75ba8bb51adab733b74056667b72cc463794"
)

func TestSignature_Verify(t *testing.T) {
	const stamp = "X-Timestamp: 1800000000"
	for name, test := range map[string]struct {
		scheme  string
		target  string
		body    string
		headers []string
		right   bool
	}{
		"right/timestamp":             {"timestamp", "", "", []string{stamp, "X-Signature: " + stampMAC}, true},
		"right/timestamp, any body":   {"timestamp", "", `{"b":2}`, []string{stamp, "X-Signature: " + stampMAC}, true},
		"right/request":               {"request", "", `{"a":1}`, []string{stamp, "X-Signature: " + requestMAC}, true},
		"wrong/request, other body":   {"request", "", `{"a":2}`, []string{stamp, "X-Signature: " + requestMAC}, false},
		"wrong/request, other route":  {"request", "/wp-json/cookie/v1/other", `{"a":1}`, []string{stamp, "X-Signature: " + requestMAC}, false},
		"wrong/none":                  {"timestamp", "", "", nil, false},
		"wrong/no timestamp":          {"timestamp", "", "", []string{"X-Signature: " + stampMAC}, false},
		"wrong/upper case":            {"timestamp", "", "", []string{stamp, "X-Signature: A" + stampMAC[1:]}, false},
		"wrong/short":                 {"timestamp", "", "", []string{stamp, "X-Signature: " + stampMAC[:62]}, false},
		"wrong/two signatures":        {"timestamp", "", "", []string{stamp, "X-Signature: " + stampMAC, "X-Signature: " + stampMAC}, false},
		"wrong/two timestamps":        {"timestamp", "", "", []string{stamp, stamp, "X-Signature: " + stampMAC}, false},
		"wrong/stale":                 {"timestamp", "", "", []string{"X-Timestamp: 1799999699", "X-Signature: " + stampMAC}, false},
		"wrong/future":                {"timestamp", "", "", []string{"X-Timestamp: 1800000301", "X-Signature: " + stampMAC}, false},
		"wrong/milliseconds":          {"timestamp", "", "", []string{"X-Timestamp: 1800000000000", "X-Signature: " + stampMAC}, false},
		"wrong/exponent":              {"timestamp", "", "", []string{"X-Timestamp: 18000000e2", "X-Signature: " + stampMAC}, false},
		"wrong/sign":                  {"timestamp", "", "", []string{"X-Timestamp: +180000000", "X-Signature: " + stampMAC}, false},
		"wrong/white space":           {"timestamp", "", "", []string{"X-Timestamp: 1800000000\t", "X-Signature: " + stampMAC}, false},
		"wrong/timestamp for request": {"request", "", `{"a":1}`, []string{stamp, "X-Signature: " + stampMAC}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := signed(t, &Signature{Name: "cookie", Scheme: test.scheme, Keys: []string{"older", "secret"}})
			target := test.target
			if target == "" {
				target = "/wp-json/cookie/v1/store-auth"
			}
			r := request(t, s, nil, "POST", target, test.body, append(test.headers, jsonType)...)
			r.Matched.Rule = signedRule(s)
			v, err := p.Check(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v.Refused() == test.right {
				t.Errorf("refused: %v, want %v", v.Refused(), !test.right)
			}
			if v.Refused() && (v.Status != http.StatusUnauthorized || v.Code != CodeSignature) {
				t.Errorf("got %d %s", v.Status, v.Code)
			}
		})
	}
}

// TestSignature_Note: the record says what is wrong, and the client's answer does not.
func TestSignature_Note(t *testing.T) {
	const stamp, right = "X-Timestamp: 1800000000", "X-Signature: " + stampMAC
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	for _, test := range []struct {
		note    string
		headers []string
	}{
		{"Signature cookie is missing", nil},
		{"not ten digits", []string{"X-Timestamp: 1800000000000", right}},
		{"off by 6m40s", []string{"X-Timestamp: 1800000400", right}},
		{"not made with one of its keys", []string{stamp, "X-Signature: " + requestMAC}},
		{"", []string{stamp, right}},
		{"was used before", []string{stamp, right}},
	} {
		r := request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", test.headers...)
		r.Matched.Rule = signedRule(s)
		v, err := p.Check(t.Context(), r)
		if err != nil || v.Refused() != (test.note != "") || !strings.Contains(v.Note, test.note) || strings.Contains(v.Message, "cookie") {
			t.Errorf("%v: got %+v, %v", test.headers, v, err)
		}
	}
}

func signed(t *testing.T, signature *Signature) (*Site, *Signatures) {
	s := newSite(t)
	return s, provision(t, s, &Signatures{Signatures: []*Signature{signature}})
}

func signedRule(s *Site) *Rule {
	r := mustRule("signed cookie", nil, "/cookie/v1/**")
	if err := r.checkSignatures(s); err != nil {
		panic(err)
	}
	return &r
}

// TestSignature_RequestWithAnUnsignedQuery: nobody may add what scheme request does not
// sign.
func TestSignature_RequestWithAnUnsignedQuery(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Scheme: "request", Keys: []string{"secret"}})
	for target, refused := range map[string]bool{
		"/wp-json/cookie/v1/store-auth":            false,
		"/?rest_route=/cookie/v1/store-auth":       false,
		"/wp-json/cookie/v1/store-auth?choice=all": true,
	} {
		r := request(t, s, nil, "POST", target, `{"a":1}`, "X-Timestamp: 1800000000", "X-Signature: "+requestMAC, jsonType)
		r.Matched.Rule = signedRule(s)
		if v, err := p.Check(t.Context(), r); (err != nil || v.Refused()) != refused {
			t.Errorf("%s: %+v, %v", target, v, err)
		}
	}
}

// TestSignature_BodyOfAnotherType: PHP would split signed JSON that is sent as a form at
// an ampersand.
func TestSignature_BodyOfAnotherType(t *testing.T) {
	const body = `{"name":"x&choice=all&y"}`
	mac := hmac.New(sha256.New, []byte("secret"))
	digest := sha256.Sum256([]byte(body))
	_, _ = fmt.Fprintf(mac, "1800000000\nPOST\n/cookie/v1/store-auth\n%x", digest)
	for contentType, refused := range map[string]bool{
		"application/json": false, "application/json; charset=UTF-8": false, "text/plain": false,
		"application/x-www-form-urlencoded": true, "application/x-www-form-urlencoded,application/json": true, "": true,
	} {
		s, p := signed(t, &Signature{Name: "cookie", Scheme: "request", Keys: []string{"secret"}})
		r := request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", body, "X-Timestamp: 1800000000",
			fmt.Sprintf("X-Signature: %x", mac.Sum(nil)), "Content-Type: "+contentType)
		r.Matched.Rule = signedRule(s)
		if v, err := p.Check(t.Context(), r); (err != nil || v.Refused()) != refused {
			t.Errorf("%s: %+v, %v", contentType, v, err)
		}
	}
}

func TestSignature_Once(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	for i, refused := range []bool{false, true, true} {
		r := request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", "X-Timestamp: 1800000000", "X-Signature: "+stampMAC)
		r.Matched.Rule = signedRule(s)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() != refused {
			t.Errorf("use %d: %+v, %v", i+1, v, err)
		}
	}
}

func TestSignature_OnceCannotBeKnown(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	s.Store = brokenStore{Store: s.Store}
	r := request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", "X-Timestamp: 1800000000", "X-Signature: "+stampMAC)
	r.Matched.Rule = signedRule(s)
	if _, err := p.Check(t.Context(), r); !errors.Is(err, store.ErrFull) {
		t.Errorf("got error %v", err)
	}
}

func TestSignature_BadConfiguration(t *testing.T) {
	for name, s := range map[string]*Signature{
		"no key":         {Name: "a"},
		"empty key":      {Name: "a", Keys: []string{" "}},
		"unknown scheme": {Name: "a", Keys: []string{"k"}, Scheme: "md5"},
		"no name":        {Keys: []string{"k"}},
		"negative":       {Name: "a", Keys: []string{"k"}, Tolerance: Duration(-time.Second)},
	} {
		if err := provisionError(newSite(t), (&Signatures{Signatures: []*Signature{s}})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	twice := &Signatures{}
	configure(t, twice, line("signature a", line("key k")))
	for _, o := range []Option{
		line("signature a", line("key k")), line("signature a b"), line("signature b", line("key")), line("signature b", line("scheme x")),
		line("signature b", line("tolerance 0s")), line("signature b", line("tolerance soon")), line("signature b", line("once yes")),
		line("signature b", line("header x y")), line("signature b", line("kye k")), line("signature b", line("once"), line("once")),
	} {
		if err := twice.Configure(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func BenchmarkSignature(b *testing.B) {
	s := newSite(b)
	p := provision(b, s, &Signatures{Signatures: []*Signature{{Name: "cookie", Keys: []string{"secret"}}}})
	r := request(b, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", "X-Timestamp: 1800000000", "X-Signature: "+stampMAC)
	r.Matched.Rule = signedRule(s)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
}
