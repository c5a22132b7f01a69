package policies

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// TestSignature_Request: scheme request signs the effective method and the route as
// the platform dispatches it.
func TestSignature_Request(t *testing.T) {
	sum := func(method, route, body string) string {
		return "X-Signature: " + hexMAC("secret", fmt.Sprintf("1800000000\n%s\n%s\n%x", method, route, sha256.Sum256([]byte(body))))
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
			s := newSite(t)
			c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, line("signature cookie", line("scheme request"), line("key secret")), line("allow signed cookie /cookie/v1/**"))
			d := c.Judge(t.Context(), request(t, s, nil, test.method, test.target, body, signedStamp, test.signature, jsonType))
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
		s := newSite(t)
		c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, line("signature cookie", line("scheme github"), line("key secret")), line("allow signed cookie /cookie/v1/**"))
		r := request(t, s, nil, "POST", "/wp-json/cookie/v1/a", body, formType, "X-Hub-Signature-256: sha256="+hexMAC("secret", body))
		if d := c.Judge(t.Context(), r); (d.Outcome == Refuse) != refused {
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
		s := newSite(t)
		c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, line("signature pay", line("scheme stripe"), line("key whsec_stripe")), line("allow signed pay /pay/v1/**"))
		d := c.Judge(t.Context(), request(t, s, nil, "POST", "/wp-json/pay/v1/a", hookBody, jsonType, "Stripe-Signature: "+test.header))
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
		s := newSite(t)
		key := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of 24 bytes ..."))
		c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, line("signature pay", line("scheme standard"), line("key "+key)), line("allow signed pay /pay/v1/**"))
		d := c.Judge(t.Context(), request(t, s, nil, "POST", "/wp-json/pay/v1/a", hookBody, jsonType, "Webhook-Id: "+id,
			"Webhook-Timestamp: 1800000000", "Webhook-Signature: v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
		if d.Verdict.Status != status {
			t.Errorf("%q: got %+v", id, d)
		}
	}
}

// TestSignature_OnceForAllNames: with two names of one key, a signature counts once.
func TestSignature_OnceForAllNames(t *testing.T) {
	s := newSite(t)
	c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, line("signature a", line("key secret"), line("once")), line("signature b", line("key secret"), line("once")),
		line("allow signed a /a/v1/**"), line("allow signed b /b/v1/**"))
	for _, test := range []struct {
		target string
		status int
	}{{"/wp-json/a/v1/x", 0}, {"/wp-json/b/v1/x", 401}, {"/wp-json/a/v1/x", 401}} {
		d := c.Judge(t.Context(), request(t, s, nil, "POST", test.target, "", signedStamp, "X-Signature: "+stampMAC))
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
		signature Option
		header    string
		atLeast   time.Duration
	}{
		"timestamp": {line("signature x", line("key secret"), line("once"), line("tolerance 10m")), "X-Signature: " + stampMAC, 21 * time.Minute},
		"github":    {line("signature x", line("scheme github"), line("key secret"), line("once")), "X-Hub-Signature-256: sha256=" + hexMAC("secret", hookBody), 24 * time.Hour},
	} {
		s := newSite(t)
		store := &keptFor{Store: s.Store}
		s.Store = store
		c := guardedBy(t, s, []Entry{AccessEntry, SignatureEntry}, test.signature, line("allow signed x /x/v1/**"))
		d := c.Judge(t.Context(), request(t, s, nil, "POST", "/wp-json/x/v1/a", hookBody, jsonType, signedStamp, test.header))
		if d.Outcome != Pass || store.ttl < test.atLeast {
			t.Errorf("%s: got %+v, kept for %v", scheme, d, store.ttl)
		}
	}
}
