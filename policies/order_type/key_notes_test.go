package ordertype

import (
	"errors"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_SwappedCredential: a credential that certainly cannot work does not load.
func TestOrderType_SwappedCredential(t *testing.T) {
	for credential, works := range map[string]bool{"ck_1:cs_1": true, "a:b": true, "cs_1:cs_2": true, "cs_1:ck_1": false} {
		err := policytest.ProvisionError(policytest.NewSite(t), &OrderType{Credential: credential})
		if (err == nil) != works || err != nil && !strings.Contains(err.Error(), "key:secret") {
			t.Errorf("%s: %v", credential, err)
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
		p := policytest.Provision(t, s, &OrderType{Credential: "ck_1:cs_hidden"}, policy.Settings{At: "Caddyfile:7"})
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
		c := policytest.Guarded(t, s, []policy.Entry{Entry}, policytest.Line("order_type"))
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
