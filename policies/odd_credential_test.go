package policies

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
)

// TestOdd_Credential: W24 is about a shop at an http address, unless there is a credential or
// nothing to ask.
func TestOdd_Credential(t *testing.T) {
	root := func(home, namespace string) *index.Root {
		r, err := index.ParseRoot([]byte(`{"home":"` + home + `","namespaces":["wp/v2","` + namespace + `"],"routes":{"/wp/v2/posts":{},"/` + namespace + `/orders":{}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	credential := func(p *OrderType) { p.Credential = "ck_1:cs_1" }
	for name, test := range map[string]struct {
		home, namespace, release string
		set                      func(*OrderType)
		want                     string
	}{
		"an http shop":            {"http://shop.example", "wc/v3", "auto", nil, "W24:"},
		"written otherwise":       {"HTTP://shop.example", "WC/V3", "10.7", nil, "W24:"},
		"an https shop":           {"https://shop.example", "wc/v3", "auto", nil, ""},
		"no shop":                 {"http://shop.example", "wc/store/v1", "auto", nil, ""},
		"a credential":            {"http://shop.example", "wc/v3", "auto", credential, ""},
		"a shop that checks":      {"http://shop.example", "wc/v3", "10.8", nil, ""},
		"an address is not known": {"", "wc/v3", "auto", nil, ""},
	} {
		s, p := newSite(t), new(OrderType)
		s.Release, _ = ParseRelease(test.release)
		if test.set != nil {
			test.set(p)
		}
		if err := p.Provision(s, Settings{}); err != nil {
			t.Fatal(err)
		}
		c := alone("order_type", p)
		c.site = s
		odd := c.oddCredential(NewInstalled(root(test.home, test.namespace)))
		if got := codes(odd); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		for _, o := range odd { // a new shop needs no key
			if !strings.Contains(o.Text, "release 11.1") || !strings.Contains(o.Text, credentialLine) {
				t.Errorf("%s: %s", name, o.Text)
			}
		}
	}
	if odd := new(Chain).oddCredential(nil); odd != nil {
		t.Errorf("a site that nobody knows: %v", odd)
	}
}
