package policies

import (
	"errors"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestOrderType_SwappedCredential: a credential that certainly cannot work does not load.
func TestOrderType_SwappedCredential(t *testing.T) {
	for credential, works := range map[string]bool{"ck_1:cs_1": true, "a:b": true, "cs_1:cs_2": true, "cs_1:ck_1": false} {
		err := provisionError(newSite(t), &OrderType{Credential: credential})
		if (err == nil) != works || err != nil && !strings.Contains(err.Error(), "key:secret") {
			t.Errorf("%s: %v", credential, err)
		}
	}
}

// TestNoteOnKey: only a shop key that came by plain http and is nobody's is named.
func TestNoteOnKey(t *testing.T) {
	orders := asktest.JSON(200, `[]`)
	nobody := asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`)
	for name, test := range map[string]struct {
		answer *ask.Answer
		secure bool
		header string
		noted  bool
	}{
		"key, http":                     {nobody, false, shopKey, true},
		"key, http, known all the same": {orders, false, shopKey, false},
		"key, https":                    {nobody, true, shopKey, false},
		"application password":          {nobody, false, basicAuth, false},
		"no credentials":                {nobody, false, "Accept: x", false},
	} {
		p := &Access{}
		configure(t, p, line("allow role administrator /wc/v3/**"))
		s := newSite(t)
		provision(t, s, p)
		r := request(t, s, &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return test.answer, nil }}, "GET", "/wp-json/wc/v3/orders", "", test.header)
		r.Secure = test.secure
		v, err := p.Check(t.Context(), r)
		if err != nil || !v.Refused() || strings.Contains(v.Note, "plain http") != test.noted {
			t.Errorf("%s: got %+v, %v", name, v, err)
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
		s := newSite(t)
		p := provision(t, s, &OrderType{Credential: "ck_1:cs_hidden"}, Settings{At: "Caddyfile:7"})
		backend := asktest.Answering(test.status, test.answer)
		r := request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, jsonType, `Authorization: OAuth oauth_consumer_key="x"`)
		r.Secure = test.secure
		_, err := p.Check(t.Context(), r)
		if !errors.Is(err, ask.ErrUndecided) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "the credential of order_type (Caddyfile:7)") ||
			strings.Contains(err.Error(), "hidden") || len(err.Error()) > 500 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
