package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// The signatures below were computed with OpenSSL:
// printf 1800000000 | openssl dgst -sha256 -hmac secret
// printf '1800000000\nPOST\n/cookie/v1/store-auth\n%s' "$(printf '{"a":1}' | sha256sum | cut -c1-64)" | openssl dgst -sha256 -hmac secret
const (
	requestMAC = "c1975c08247f97d30337d942688e75ba8bb51adab733b74056667b72cc463794"
)

func TestSignature_Verify(t *testing.T) {
	const stamp = policytest.SignedStamp
	for name, test := range map[string]struct {
		scheme  string
		target  string
		body    string
		headers []string
		right   bool
	}{
		"right/timestamp":             {"timestamp", "", "", []string{stamp, "X-Signature: " + policytest.StampMAC}, true},
		"right/timestamp, any body":   {"timestamp", "", `{"b":2}`, []string{stamp, "X-Signature: " + policytest.StampMAC}, true},
		"right/request":               {"request", "", `{"a":1}`, []string{stamp, "X-Signature: " + requestMAC}, true},
		"wrong/request, other body":   {"request", "", `{"a":2}`, []string{stamp, "X-Signature: " + requestMAC}, false},
		"wrong/request, other route":  {"request", "/wp-json/cookie/v1/other", `{"a":1}`, []string{stamp, "X-Signature: " + requestMAC}, false},
		"wrong/none":                  {"timestamp", "", "", nil, false},
		"wrong/no timestamp":          {"timestamp", "", "", []string{"X-Signature: " + policytest.StampMAC}, false},
		"wrong/upper case":            {"timestamp", "", "", []string{stamp, "X-Signature: A" + policytest.StampMAC[1:]}, false},
		"wrong/short":                 {"timestamp", "", "", []string{stamp, "X-Signature: " + policytest.StampMAC[:62]}, false},
		"wrong/two signatures":        {"timestamp", "", "", []string{stamp, "X-Signature: " + policytest.StampMAC, "X-Signature: " + policytest.StampMAC}, false},
		"wrong/two timestamps":        {"timestamp", "", "", []string{stamp, stamp, "X-Signature: " + policytest.StampMAC}, false},
		"wrong/stale":                 {"timestamp", "", "", []string{"X-Timestamp: 1799999699", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/future":                {"timestamp", "", "", []string{"X-Timestamp: 1800000301", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/milliseconds":          {"timestamp", "", "", []string{"X-Timestamp: 1800000000000", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/exponent":              {"timestamp", "", "", []string{"X-Timestamp: 18000000e2", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/sign":                  {"timestamp", "", "", []string{"X-Timestamp: +180000000", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/white space":           {"timestamp", "", "", []string{"X-Timestamp: 1800000000\t", "X-Signature: " + policytest.StampMAC}, false},
		"wrong/timestamp for request": {"request", "", `{"a":1}`, []string{stamp, "X-Signature: " + policytest.StampMAC}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := signed(t, &Signature{Name: "cookie", Scheme: test.scheme, Keys: []string{"older", "secret"}})
			target := test.target
			if target == "" {
				target = "/wp-json/cookie/v1/store-auth"
			}
			r := policytest.Request(t, s, nil, "POST", target, test.body, append(test.headers, policytest.JSONType)...)
			r.Matched.Rule = signedRule(s)
			v, err := p.Check(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v.Refused() == test.right {
				t.Errorf("refused: %v, want %v", v.Refused(), !test.right)
			}
			if v.Refused() && (v.Status != http.StatusUnauthorized || v.Code != policy.CodeSignature) {
				t.Errorf("got %d %s", v.Status, v.Code)
			}
		})
	}
}

// TestSignature_Note: the record says what is wrong, and the client's answer does not.
func TestSignature_Note(t *testing.T) {
	const stamp, right = policytest.SignedStamp, "X-Signature: " + policytest.StampMAC
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	for _, test := range []struct {
		note    string
		headers []string
	}{
		{"Signature cookie is missing", nil},
		{"not ten digits", []string{"X-Timestamp: 1800000000000", right}},
		{"not ten digits", []string{"X-Timestamp: 18000000e2", right}},
		{"not ten digits", []string{"X-Timestamp: 0800000000", right}},
		{"off by 6m40s", []string{"X-Timestamp: 1800000400", right}},
		{"not made with one of its keys", []string{stamp, "X-Signature: " + requestMAC}},
		{"", []string{stamp, right}},
		{"was used before", []string{stamp, right}},
	} {
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", test.headers...)
		r.Matched.Rule = signedRule(s)
		v, err := p.Check(t.Context(), r)
		if err != nil || v.Refused() != (test.note != "") || !strings.Contains(v.Note, test.note) || strings.Contains(v.Message, "cookie") {
			t.Errorf("%v: got %+v, %v", test.headers, v, err)
		}
	}
}

func signed(t *testing.T, signature *Signature) (*policy.Site, *Signatures) {
	s := policytest.NewSite(t)
	return s, policytest.Provision(t, s, &Signatures{Signatures: []*Signature{signature}})
}

func signedRule(s *policy.Site) *policy.Rule {
	r := policy.MustRule("signed cookie", nil, "/cookie/v1/**")
	if err := r.CheckNames(s); err != nil {
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
		r := policytest.Request(t, s, nil, "POST", target, `{"a":1}`, policytest.SignedStamp, "X-Signature: "+requestMAC, policytest.JSONType)
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
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", body, policytest.SignedStamp,
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
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC)
		r.Matched.Rule = signedRule(s)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() != refused {
			t.Errorf("use %d: %+v, %v", i+1, v, err)
		}
	}
}

// TestSignature_OnceARequest: a signature that counts once does so for its request, however often that is judged.
func TestSignature_OnceARequest(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC)
	r.Matched.Rule = signedRule(s)
	for range 2 {
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// TestSignature_OtherRules: a call whose rule asks for no signature, or that no rule is about, needs none.
func TestSignature_OtherRules(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}})
	users := policy.MustRule("users", nil, "/cookie/v1/**")
	for _, rule := range []*policy.Rule{nil, &users} {
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "")
		r.Matched.Rule = rule
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
			t.Errorf("%v: %+v, %v", rule, v, err)
		}
	}
}

func TestSignature_OnceCannotBeKnown(t *testing.T) {
	s, p := signed(t, &Signature{Name: "cookie", Keys: []string{"secret"}, Once: true})
	s.Store = policytest.BrokenStore{Store: s.Store}
	r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC)
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
		"negative":       {Name: "a", Keys: []string{"k"}, Tolerance: policy.Duration(-time.Second)},
	} {
		if err := policytest.ProvisionError(policytest.NewSite(t), (&Signatures{Signatures: []*Signature{s}})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	twice := &Signatures{}
	policytest.Configure(t, twice, policytest.Line("signature a", policytest.Line("key k")))
	for _, o := range []policy.Option{
		policytest.Line("signature a", policytest.Line("key k")), policytest.Line("signature a b"), policytest.Line("signature b", policytest.Line("key")), policytest.Line("signature b", policytest.Line("scheme x")),
		policytest.Line("signature b", policytest.Line("tolerance 0s")), policytest.Line("signature b", policytest.Line("tolerance soon")), policytest.Line("signature b", policytest.Line("once yes")),
		policytest.Line("signature b", policytest.Line("header x y")), policytest.Line("signature b", policytest.Line("kye k")), policytest.Line("signature b", policytest.Line("once"), policytest.Line("once")),
	} {
		if err := twice.Configure(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func BenchmarkSignature(b *testing.B) {
	s := policytest.NewSite(b)
	p := policytest.Provision(b, s, &Signatures{Signatures: []*Signature{{Name: "cookie", Keys: []string{"secret"}}}})
	r := policytest.Request(b, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC)
	r.Matched.Rule = signedRule(s)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
}
