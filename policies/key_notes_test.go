package policies

import (
	"errors"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/openings"
	ordertype "github.com/restwarden/restwarden/policies/order_type"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_SwappedCredential: a credential that certainly cannot work does not load.
func TestOrderType_SwappedCredential(t *testing.T) {
	for credential, works := range map[string]bool{"ck_1:cs_1": true, "a:b": true, "cs_1:cs_2": true, "cs_1:ck_1": false} {
		err := policytest.ProvisionError(policytest.NewSite(t), &ordertype.OrderType{Credential: credential})
		if (err == nil) != works || err != nil && !strings.Contains(err.Error(), "key:secret") {
			t.Errorf("%s: %v", credential, err)
		}
	}
}

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
		if remedy := openings.Remedy(r, r.Call, v, r.Call.Route); (remedy == "") != key {
			t.Errorf("%s: the remedy is %q", name, remedy)
		}
	}
}

// TestOrderType_RefusedCredential: the error names the place of the credential and what the
// shop says, and no secret.
func TestOrderType_RefusedCredential(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		status int
		secure bool
		want   string
	}{
		"wrong secret":    {`{"code":"woocommerce_rest_authentication_error","message":"Consumer secret is invalid."}`, 401, true, `the shop says "Consumer secret is invalid."`},
		"no rights":       {`{"code":"woocommerce_rest_cannot_view"}`, 403, true, "its user may not read orders"},
		"ignored, https":  {`{"code":"woocommerce_rest_cannot_view"}`, 401, true, "PHP is not told that the client came by https"},
		"ignored, http":   {`{"code":"woocommerce_rest_cannot_view"}`, 401, false, "its query is lost"},
		"an odd sentence": {`{"code":"woocommerce_rest_authentication_error","message":"` + strings.Repeat("x", 500) + `\n"}`, 401, true, `the shop says "xxx`},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &ordertype.OrderType{Credential: "ck_1:cs_hidden"}, policy.Settings{At: "Caddyfile:7"})
		backend := asktest.Answering(test.status, test.answer)
		r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, `Authorization: OAuth oauth_consumer_key="x"`)
		r.Secure = test.secure
		_, err := p.Check(t.Context(), r)
		if !errors.Is(err, ask.ErrUndecided) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "the credential of order_type (Caddyfile:7)") ||
			strings.Contains(err.Error(), "hidden") || len(err.Error()) > 500 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestOrderType_Cure: the record of a refused caller who may not ask what a record is names the line that
// ends such refusals, and not that the key were unknown.
func TestOrderType_Cure(t *testing.T) {
	mayOnlyWrite := asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`)
	for name, test := range map[string]struct {
		target, header string
		status         int
		says           string
	}{
		"OAuth 1":        {"/wp-json/wc/v3/orders/7?oauth_consumer_key=a", "Accept: x", 503, "Only the platform can check this caller"},
		"write-only key": {"/wp-json/wc/v3/orders/7", policytest.ShopKey, 401, "The key is good"},
	} {
		s := policytest.NewSite(t)
		c, err := NewChain(s, policy.Enforce, configured("order_type", new(ordertype.OrderType)))
		if err != nil {
			t.Fatal(err)
		}
		backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return mayOnlyWrite, nil }}
		r := policytest.Request(t, s, backend, "PUT", test.target, `{}`, policytest.JSONType, test.header)
		r.Secure = true
		d := c.Judge(t.Context(), r)
		why := d.Why()
		if d.Verdict.Status != test.status || !strings.Contains(why, test.says) || !strings.Contains(why, "release 11.1") || !strings.Contains(why, "order_type { credential <key:secret> }") ||
			strings.Contains(why, "does not know it") || strings.Contains(why, "refuses the call") {
			t.Errorf("%s: %d, %s", name, d.Verdict.Status, why)
		}
	}
}
