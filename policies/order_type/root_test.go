package ordertype

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/policytest"
)

// shopAt is a shop whose REST root answers with root.
func shopAt(root func() (*ask.Answer, error)) *asktest.Platform {
	shop := policytest.Shop(nil)
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Kind == ask.KindIndex {
			return root()
		}
		return shop.Answer(q)
	}}
}

// TestOrderType_Root: the credential goes only to where the REST root of a shop was read, in the
// form and at the base of the call. A root that is hidden counts at the site's own base.
func TestOrderType_Root(t *testing.T) {
	says := func(status int, body string) func() (*ask.Answer, error) {
		return func() (*ask.Answer, error) { return asktest.JSON(status, body), nil }
	}
	closed := func(expose string) func() (*ask.Answer, error) {
		a := asktest.JSON(401, `{"code":"rest_login_required"}`)
		a.Header.Set("Access-Control-Expose-Headers", expose)
		return func() (*ask.Answer, error) { return a, nil }
	}
	const shop, forged = `{"home":"https://a.test","namespaces":["wp/v2","wc/v3"]}`, "oauth_consumer_key=a"
	const pretty, query, stats = "/wp-json/wc/v3/orders/7?" + forged, "/?rest_route=/wc/v3/orders/7&" + forged, "/stats"
	for name, test := range map[string]struct {
		target string
		root   func() (*ask.Answer, error)
		sent   bool
	}{
		"own base":                       {pretty, says(200, shop), true},
		"own base, query form":           {query, says(200, shop), true},
		"own base, closed":               {pretty, closed("X-WP-Total, X-WP-TotalPages, Link"), true},
		"own base, closed by another":    {pretty, closed("X-Total"), false},
		"own base, nothing in it":        {pretty, says(200, `{"home":"https://a.test","namespaces":[]}`), true},
		"own base, a login":              {pretty, says(401, "<html>"), false},
		"own base, no REST":              {pretty, says(404, "<html>"), false},
		"own base, another program":      {pretty, says(200, `{"status":"ok"}`), false},
		"own base, no shop":              {pretty, says(200, `{"home":"https://a.test","namespaces":["wp/v2"]}`), false},
		"another base":                   {stats + pretty, says(200, shop), true},
		"another base, query form":       {stats + query, says(200, shop), true},
		"another base, closed":           {stats + pretty, closed("X-WP-Total"), false},
		"another base, nothing in it":    {stats + pretty, says(200, `{"home":"https://a.test","namespaces":[]}`), false},
		"another base, another program":  {stats + pretty, says(200, `{"status":"ok"}`), false},
		"another base, a page":           {stats + pretty, says(200, "<html>"), false},
		"another base, query form, page": {stats + query, says(200, "<html>"), false},
		"another base, no shop":          {stats + pretty, says(200, `{"home":"https://a.test","namespaces":["wp/v2"]}`), false},
	} {
		s := policytest.NewSite(t)
		discover.Keep(s, new(discover.Roots)) // the site has just started
		p, backend := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"}), shopAt(test.root)
		for range 3 {
			v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", test.target, `{}`, policytest.JSONType))
			if (err == nil && !v.Refused()) != test.sent || err != nil && !errors.Is(err, ask.ErrUndecided) {
				t.Errorf("%s: %+v, %v", name, v, err)
			}
		}
		roots, keys := 0, 0
		for _, q := range backend.Questions() {
			switch {
			case q.Kind == ask.KindIndex && q.As == ask.AsNobody:
				if !q.Envelope { // for a page in its place
					roots++
				}
			case q.As == ask.AsKey:
				keys++
			}
			if own := strings.HasPrefix(test.target, stats) == strings.HasPrefix(q.Base, stats); !own {
				t.Errorf("%s: a question goes to %q", name, q.Base)
			}
		}
		if roots != 1 || keys > 0 != test.sent {
			t.Errorf("%s: %d questions for the root, %d with the key", name, roots, keys)
		}
	}
}

// TestOrderType_RootKnown: where the REST root has been read anyway, nothing more is asked, but at
// that base and in the pretty form alone.
func TestOrderType_RootKnown(t *testing.T) {
	for target, roots := range map[string]int{
		"/wp-json/wc/v3/orders/7?oauth_nonce=a": 0, "/?rest_route=/wc/v3/orders/7&oauth_nonce=a": 1, "/stats/wp-json/wc/v3/orders/7?oauth_nonce=a": 1,
	} {
		s := policytest.NewSite(t)
		backend, n := shopAt(func() (*ask.Answer, error) { return asktest.JSON(404, ""), nil }), 0
		p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
		_, _ = p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", target, `{}`, policytest.JSONType))
		for _, q := range backend.Questions() {
			if q.Kind == ask.KindIndex && !q.Envelope {
				n++
			}
		}
		if n != roots {
			t.Errorf("%s: %d questions for the root", target, n)
		}
	}
}

// TestOrderType_RootLater: a root that could not be read, or was none, is read again.
func TestOrderType_RootLater(t *testing.T) {
	s := policytest.NewSite(t)
	discover.Keep(s, new(discover.Roots))
	now := time.Unix(1_800_000_000, 0)
	s.Now = func() time.Time { return now }
	answer, failure := (*ask.Answer)(nil), error(ask.ErrUndecided)
	backend := shopAt(func() (*ask.Answer, error) { return answer, failure })
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	passes := func() bool {
		v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7?oauth_nonce=a", `{}`, policytest.JSONType))
		return err == nil && !v.Refused()
	}
	if passes() {
		t.Error("nothing is known of the shop")
	}
	answer, failure = asktest.JSON(404, "<html>"), nil
	if passes() {
		t.Error("there is no root")
	}
	answer = asktest.JSON(200, `{"namespaces":["wc/v3"]}`)
	if passes() {
		t.Error("that there is no root counts for a while")
	}
	if now = now.Add(strangerTTL); !passes() {
		t.Error("the root is there")
	}
	if answer = asktest.JSON(404, ""); !passes() {
		t.Error("that there is a root counts for longer")
	}
}

// TestOrderType_RootOfOthers: a caller who may write and not read gets the shop's refusal where the
// credential may not be sent.
func TestOrderType_RootOfOthers(t *testing.T) {
	s := policytest.NewSite(t)
	backend := shopAt(func() (*ask.Answer, error) { return asktest.JSON(200, `{"status":"ok"}`), nil })
	shop := backend.Answer
	backend.Answer = func(q ask.Question) (*ask.Answer, error) {
		if q.As == ask.AsCaller && q.Kind == ask.KindRecord {
			return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`), nil
		}
		return shop(q)
	}
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	r := policytest.Request(t, s, backend, "PUT", "/stats/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, policytest.ShopKey)
	v, err := p.Check(t.Context(), r)
	if err != nil || v.Answer == nil || r.Call.Form != call.Pretty {
		t.Errorf("%+v, %v", v, err)
	}
	for _, q := range backend.Questions() {
		if q.As == ask.AsKey {
			t.Errorf("the key was sent: %+v", q)
		}
	}
}
