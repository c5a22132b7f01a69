package signature

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// TestSignature_Request: scheme request signs the effective method and the route as
// the platform dispatches it.
func TestSignature_Request(t *testing.T) {
	sum := func(method, route, body string) string {
		return "X-Signature: " + policytest.HexMAC("secret", fmt.Sprintf("1800000000\n%s\n%s\n%x", method, route, sha256.Sum256([]byte(body))))
	}
	const route, body = "/cookie/v1/a", `{"a":1}`
	for name, test := range map[string]struct {
		method, target, signature string
		status                    int
	}{
		"right":                      {"POST", "/wp-json/cookie/v1/a", sum("POST", route, body), 0},
		"another effective method":   {"POST", "/wp-json/cookie/v1/a?_method=DELETE", sum("POST", route, body), 401},
		"effective method is signed": {"POST", "/wp-json/cookie/v1/a?_method=DELETE", sum("DELETE", route, body), 0},
		"route as it was sent":       {"POST", "/wp-json/Cookie/v1/a", sum("POST", "/Cookie/v1/a", body), 0},
		"route in lower case":        {"POST", "/wp-json/Cookie/v1/a", sum("POST", route, body), 401},
		"end of the signature":       {"POST", "/wp-json/cookie/v1/a", sum("POST", route, body)[:len("X-Signature: ")+60] + "0000", 401},
		"in capitals":                {"POST", "/wp-json/cookie/v1/a", "X-Signature: " + strings.ToUpper(strings.TrimPrefix(sum("POST", route, body), "X-Signature: ")), 401},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("signature cookie", policytest.Line("scheme request"), policytest.Line("key secret")), policytest.Line("allow signed cookie /cookie/v1/**"))
			d := c.Judge(t.Context(), policytest.Request(t, s, nil, test.method, test.target, body, policytest.SignedStamp, test.signature, policytest.JSONType))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v, want %d", d, test.status)
			}
		})
	}
}

// TestSignature_BodiesThatMayBeForms: a body that is signed as JSON is not read as a
// form.
func TestSignature_BodiesThatMayBeForms(t *testing.T) {
	for body, refused := range map[string]bool{
		`[{"a":"x&choice=all"}]`: true, " \n" + `{"a":"x&choice=all"}`: true, `{"a":"x&y"}`: true, `{"a":"x=y"}`: true,
		`{"a":"x"}`: false, "a=x&choice=all": false,
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("signature cookie", policytest.Line("scheme github"), policytest.Line("key secret")), policytest.Line("allow signed cookie /cookie/v1/**"))
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/a", body, policytest.FormType, "X-Hub-Signature-256: sha256="+policytest.HexMAC("secret", body))
		if d := c.Judge(t.Context(), r); (d.Outcome == policy.Refuse) != refused {
			t.Errorf("%s: got %+v", body, d)
		}
	}
}

// TestSignature_Bounds: the number of signatures in one header and its length are
// bounded.
func TestSignature_Bounds(t *testing.T) {
	wrong := ",v1=" + zeros
	for name, test := range map[string]struct {
		header string
		status int
	}{
		"eight":         {"t=1800000000" + strings.Repeat(wrong, 7) + ",v1=" + stripeMAC, 0},
		"nine":          {"t=1800000000" + strings.Repeat(wrong, 8) + ",v1=" + stripeMAC, 401},
		"2048 bytes":    {"t=1800000000,v1=" + stripeMAC + ",v0=" + strings.Repeat("x", 2048-len("t=1800000000,v1=,v0=")-len(stripeMAC)), 0},
		"2049 bytes":    {"t=1800000000,v1=" + stripeMAC + ",v0=" + strings.Repeat("x", 2049-len("t=1800000000,v1=,v0=")-len(stripeMAC)), 401},
		"no signature":  {"t=1800000000", 401},
		"other version": {"t=1800000000,v0=" + stripeMAC, 401},
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("signature pay", policytest.Line("scheme stripe"), policytest.Line("key whsec_stripe")), policytest.Line("allow signed pay /pay/v1/**"))
		d := c.Judge(t.Context(), policytest.Request(t, s, nil, "POST", "/wp-json/pay/v1/a", hookBody, policytest.JSONType, "Stripe-Signature: "+test.header))
		if d.Verdict.Status != test.status {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

// TestSignature_MessageIDs: the signature covers the id of a message before a full stop,
// so that the id may hold none.
func TestSignature_MessageIDs(t *testing.T) {
	for id, status := range map[string]int{"msg_1": 0, "msg.1": 401, "msg 1": 401, "msg\u00fc": 401, "": 401} {
		mac := hmac.New(sha256.New, []byte("a secret of 24 bytes ..."))
		mac.Write([]byte(id + ".1800000000." + hookBody))
		s := policytest.NewSite(t)
		key := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of 24 bytes ..."))
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("signature pay", policytest.Line("scheme standard"), policytest.Line("key "+key)), policytest.Line("allow signed pay /pay/v1/**"))
		d := c.Judge(t.Context(), policytest.Request(t, s, nil, "POST", "/wp-json/pay/v1/a", hookBody, policytest.JSONType, "Webhook-Id: "+id,
			"Webhook-Timestamp: 1800000000", "Webhook-Signature: v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
		if d.Verdict.Status != status {
			t.Errorf("%q: got %+v", id, d)
		}
	}
}

// TestSignature_OnceForAllNames: with two names of one key, a signature counts once.
func TestSignature_OnceForAllNames(t *testing.T) {
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("signature a", policytest.Line("key secret"), policytest.Line("once")), policytest.Line("signature b", policytest.Line("key secret"), policytest.Line("once")),
		policytest.Line("allow signed a /a/v1/**"), policytest.Line("allow signed b /b/v1/**"))
	for _, test := range []struct {
		target string
		status int
	}{{"/wp-json/a/v1/x", 0}, {"/wp-json/b/v1/x", 401}, {"/wp-json/a/v1/x", 401}} {
		d := c.Judge(t.Context(), policytest.Request(t, s, nil, "POST", test.target, "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC))
		if d.Verdict.Status != test.status {
			t.Errorf("%s: got %+v, want %d", test.target, d, test.status)
		}
	}
}

// keptFor is a Store that records how long signatures are remembered.
type keptFor struct {
	store.Store
	ttl time.Duration
}

func (s *keptFor) SetOnce(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	s.ttl = ttl
	return s.Store.SetOnce(ctx, key, ttl)
}

// TestSignature_RememberedAsLongAsItIsFresh: by the clocks of all gateways a signature is
// remembered from the tolerance before its time to the tolerance after it.
func TestSignature_RememberedAsLongAsItIsFresh(t *testing.T) {
	for scheme, test := range map[string]struct {
		signature policy.Option
		header    string
		atLeast   time.Duration
	}{
		"timestamp": {policytest.Line("signature x", policytest.Line("key secret"), policytest.Line("once"), policytest.Line("tolerance 10m")), "X-Signature: " + policytest.StampMAC, 21 * time.Minute},
		"github":    {policytest.Line("signature x", policytest.Line("scheme github"), policytest.Line("key secret"), policytest.Line("once")), "X-Hub-Signature-256: sha256=" + policytest.HexMAC("secret", hookBody), 24 * time.Hour},
	} {
		s := policytest.NewSite(t)
		store := &keptFor{Store: s.Store}
		s.Store = store
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, test.signature, policytest.Line("allow signed x /x/v1/**"))
		d := c.Judge(t.Context(), policytest.Request(t, s, nil, "POST", "/wp-json/x/v1/a", hookBody, policytest.JSONType, policytest.SignedStamp, test.header))
		if d.Outcome != policy.Pass || store.ttl < test.atLeast {
			t.Errorf("%s: got %+v, kept for %v", scheme, d, store.ttl)
		}
	}
}
