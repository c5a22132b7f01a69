package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
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
		mode                          Mode // of the directive
		settings                      Settings
		want                          string
	}{
		"an http shop":            {"http://shop.example", "", "wc/v3", "auto", nil, "", Settings{}, "W24:9"},
		"written otherwise":       {"HTTP://shop.example", "", "WC/V3", "10.7", nil, "", Settings{}, "W24:9"},
		"an https shop":           {"https://shop.example", "", "wc/v3", "auto", nil, "", Settings{}, ""},
		"http without a home":     {"", "http://shop.example", "wc/v3", "auto", nil, "", Settings{}, "W24:9"},
		"an https home":           {"https://shop.example", "http://shop.example", "wc/v3", "auto", nil, "", Settings{}, ""},
		"an http home alone":      {"http://shop.example", "https://shop.example", "wc/v3", "auto", nil, "", Settings{}, "W24:9"},
		"an older shop":           {"http://shop.example", "", "wc/v2", "auto", nil, "", Settings{}, "W24:9"},
		"the oldest shop":         {"http://shop.example", "", "wc/v1", "auto", nil, "", Settings{}, ""},
		"no shop":                 {"http://shop.example", "", "wc/store/v1", "auto", nil, "", Settings{}, ""},
		"a credential":            {"http://shop.example", "", "wc/v3", "auto", credential, "", Settings{}, ""},
		"a shop that checks":      {"http://shop.example", "", "wc/v3", "10.8", nil, "", Settings{}, ""},
		"an address is not known": {"", "", "wc/v3", "auto", nil, "", Settings{}, ""},
		"on_error pass":           {"http://shop.example", "", "wc/v3", "auto", nil, "", Settings{OnError: PassOnError}, ""},
		"it observes":             {"http://shop.example", "", "wc/v3", "auto", nil, "", Settings{Mode: Observe}, ""},
		"the directive observes":  {"http://shop.example", "", "wc/v3", "auto", nil, Observe, Settings{}, ""},
		"it alone enforces":       {"http://shop.example", "", "wc/v3", "auto", nil, Observe, Settings{Mode: Enforce}, "W24:9"},
	} {
		s, p := newSite(t), new(OrderType)
		s.Release, _ = ParseRelease(test.release)
		if test.set != nil {
			test.set(p)
		}
		if err := p.Provision(s, test.settings); err != nil {
			t.Fatal(err)
		}
		test.settings.At = "Caddyfile:9"
		c := Link(s, test.mode, linked("order_type", p, test.settings))
		odd := slices.DeleteFunc(OddOn(c, NewInstalled(root(test.home, test.url, test.namespace))), func(o Odd) bool { return o.Code != "W24" })
		if got := codes(odd); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		for _, o := range odd { // a new shop needs no key
			if !strings.Contains(o.Text, "release 11.1") || !strings.Contains(o.Text, "order_type { credential <key:secret> }") {
				t.Errorf("%s: %s", name, o.Text)
			}
		}
	}
	if odd := new(OrderType).Odd(new(About)); odd != nil {
		t.Errorf("a site that nobody knows: %v", odd)
	}
}
