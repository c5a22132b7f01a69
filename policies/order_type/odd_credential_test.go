package ordertype

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestOdd_Credential: W24 is about a shop at an http address, unless there is a credential or
// nothing to ask, or updates pass without an answer. It says where order_type stands.
func TestOdd_Credential(t *testing.T) {
	root := func(home, url, namespace string) *index.Root {
		r, err := index.ParseRoot([]byte(`{"home":"` + home + `","url":"` + url + `","namespaces":["wp/v2","` + namespace + `"],"routes":{"/wp/v2/posts":{},"/` + namespace + `/orders":{}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	credential := func(p *OrderType) { p.Credential = "ck_1:cs_1" }
	for name, test := range map[string]struct {
		home, url, namespace, release string
		set                           func(*OrderType)
		mode                          policy.Mode // of the directive
		settings                      policy.Settings
		want                          string
	}{
		"an http shop":            {"http://shop.example", "", "wc/v3", "auto", nil, "", policy.Settings{}, "W24:9"},
		"written otherwise":       {"HTTP://shop.example", "", "WC/V3", "10.7", nil, "", policy.Settings{}, "W24:9"},
		"an https shop":           {"https://shop.example", "", "wc/v3", "auto", nil, "", policy.Settings{}, ""},
		"http without a home":     {"", "http://shop.example", "wc/v3", "auto", nil, "", policy.Settings{}, "W24:9"},
		"an https home":           {"https://shop.example", "http://shop.example", "wc/v3", "auto", nil, "", policy.Settings{}, ""},
		"an http home alone":      {"http://shop.example", "https://shop.example", "wc/v3", "auto", nil, "", policy.Settings{}, "W24:9"},
		"an older shop":           {"http://shop.example", "", "wc/v2", "auto", nil, "", policy.Settings{}, "W24:9"},
		"the oldest shop":         {"http://shop.example", "", "wc/v1", "auto", nil, "", policy.Settings{}, ""},
		"no shop":                 {"http://shop.example", "", "wc/store/v1", "auto", nil, "", policy.Settings{}, ""},
		"a credential":            {"http://shop.example", "", "wc/v3", "auto", credential, "", policy.Settings{}, ""},
		"a shop that checks":      {"http://shop.example", "", "wc/v3", "10.8", nil, "", policy.Settings{}, ""},
		"an address is not known": {"", "", "wc/v3", "auto", nil, "", policy.Settings{}, ""},
		"on_error pass":           {"http://shop.example", "", "wc/v3", "auto", nil, "", policy.Settings{OnError: policy.PassOnError}, ""},
		"it observes":             {"http://shop.example", "", "wc/v3", "auto", nil, "", policy.Settings{Mode: policy.Observe}, ""},
		"the directive observes":  {"http://shop.example", "", "wc/v3", "auto", nil, policy.Observe, policy.Settings{}, ""},
		"it alone enforces":       {"http://shop.example", "", "wc/v3", "auto", nil, policy.Observe, policy.Settings{Mode: policy.Enforce}, "W24:9"},
	} {
		s, p := policytest.NewSite(t), new(OrderType)
		s.Release, _ = policy.ParseRelease(test.release)
		if test.set != nil {
			test.set(p)
		}
		if err := p.Provision(s, test.settings); err != nil {
			t.Fatal(err)
		}
		test.settings.At = "Caddyfile:9"
		c := policy.Link(s, test.mode, policytest.Linked("order_type", p, test.settings))
		odd := slices.DeleteFunc(review.OddOn(c, review.NewInstalled(root(test.home, test.url, test.namespace))), func(o review.Odd) bool { return o.Code != "W24" })
		if got := policytest.Codes(odd); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		for _, o := range odd { // a new shop needs no key
			if !strings.Contains(o.Text, "release 11.1") || !strings.Contains(o.Text, "order_type { credential <key:secret> }") {
				t.Errorf("%s: %s", name, o.Text)
			}
		}
	}
	if odd := new(OrderType).Odd(new(review.About)); odd != nil {
		t.Errorf("a site that nobody knows: %v", odd)
	}
}
