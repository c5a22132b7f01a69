package openings

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestNoteOnKey: the note says why a shop key that is nobody's cannot count, and no remedy
// opens the route for it.
func TestNoteOnKey(t *testing.T) {
	const orders, http, form, own = "/wp-json/wc/v3/orders", "plain http", "in the query form", "its own routes only"
	list, nobody := asktest.JSON(200, `[]`), asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`)
	const query = "consumer_key=ck_a&consumer_secret=cs_b"
	for name, test := range map[string]struct {
		answer *ask.Answer
		secure bool
		target string
		header string
		noted  string
	}{
		"http":                     {nobody, false, orders, policytest.ShopKey, http},
		"http, known all the same": {list, false, orders, policytest.ShopKey, ""},
		"https":                    {nobody, true, orders, policytest.ShopKey, "does not know it"},
		"query form":               {nobody, true, "/?rest_route=/wc/v3/orders", policytest.ShopKey, form},
		"in the query, query form": {nobody, true, "/?rest_route=/wc/v3/orders&" + query, "Accept: x", form},
		"another route":            {nobody, true, "/wp-json/x/v1/orders", policytest.ShopKey, own},
		"in the query, elsewhere":  {nobody, true, "/wp-json/x/v1/orders?" + query, "Accept: x", own},
		"application password":     {nobody, false, orders, policytest.BasicAuth, ""},
		"no credentials":           {nobody, false, orders, "Accept: x", ""},
	} {
		p := &access.Access{}
		policytest.Configure(t, p, policytest.Line("allow role administrator /wc/v3/** /x/v1/**"))
		s := policytest.NewSite(t)
		policytest.Provision(t, s, p)
		r := policytest.Request(t, s, &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return test.answer, nil }}, "GET", test.target, "", test.header)
		r.Secure = test.secure
		v, err := p.Check(t.Context(), r)
		if err != nil || !v.Refused() || test.noted == "" && v.Note != "" || !strings.Contains(v.Note, test.noted) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
		key := strings.Contains(test.target, query) || test.header == policytest.ShopKey && test.answer == nobody
		if remedy := Remedy(r, r.Call, v, r.Call.Route); (remedy == "") != key {
			t.Errorf("%s: the remedy is %q", name, remedy)
		}
	}
}
