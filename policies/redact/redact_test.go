package redact

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestRedact_Rewrites(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Redact)
	policytest.Configure(t, p, policytest.Line("redact authors"), policytest.Line("redact /x/v1/y secret"))
	policytest.Provision(t, s, p)
	admin := asktest.Answering(200, policytest.AdminBody)
	for name, test := range map[string]struct {
		target  string
		headers []string
		want    policy.Rewrite
	}{
		"troubleshooting":         {"/wp-json/feed/troubleshooting", nil, policy.RewriteBody},
		"versioned":               {"/wp-json/feed/v1/troubleshooting", nil, policy.RewriteBody},
		"configured":              {"/wp-json/x/v1/y", nil, policy.RewriteBody},
		"another route":           {"/wp-json/x/v1/z", nil, policy.RewriteNothing},
		"page":                    {"/feed/troubleshooting", nil, policy.RewriteNothing},
		"embedded, anonymous":     {"/wp-json/wp/v2/posts?_embed", nil, policy.RewriteBody},
		"embedded, folded name":   {"/wp-json/wp/v2/posts?+.embed=author", nil, policy.RewriteBody},
		"embedded, as a user":     {"/wp-json/wp/v2/posts?_embed", []string{policytest.BasicAuth}, policy.RewriteBody},
		"oEmbed, anonymous":       {"/wp-json/oembed/1.0/embed?url=x", nil, policy.RewriteBody},
		"oEmbed, as a user":       {"/wp-json/oembed/1.0/embed?url=x", []string{policytest.BasicAuth}, policy.RewriteNothing},
		"embedded, by rest_route": {"/?rest_route=/wp/v2/posts&_embed=1", nil, policy.RewriteBody},
	} {
		if got := p.Rewrites(policytest.Request(t, s, admin, "GET", test.target, "", test.headers...)); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	r := policytest.Request(t, s, admin, "GET", "/wp-json/feed/troubleshooting", "")
	a := &ask.Answer{Status: 200, Header: http.Header{"Etag": {"x"}}, Body: []byte(`{"access_token":"s","source":{"access_token":"t"}}`)}
	if err := p.Rewrite(r, a); err != nil || strings.Contains(string(a.Body), `"s"`) || strings.Contains(string(a.Body), `"t"`) || a.Header.Get("ETag") != "" {
		t.Errorf("got %s, %v, %v", a.Body, a.Header, err)
	}
	a = &ask.Answer{Status: 200, Header: http.Header{}, Body: []byte(`<b>Warning</b>{"access_token":"s"}`)}
	if err := p.Rewrite(r, a); err == nil {
		t.Error("an answer that does not parse is sent on")
	}
	for _, o := range []policy.Option{policytest.Line("redact /x"), policytest.Line("redact x y"), policytest.Line("redact /x a..b"), policytest.Line("redact /x y", policytest.Line("z"))} {
		if err := new(Redact).Configure(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestRedact_CollectionsByName: some collections of the core are an object with a member for each record.
func TestRedact_CollectionsByName(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Redact)
	policytest.Configure(t, p, policytest.Line("redact /wp/v2/types/** name labels.all"), policytest.Line("redact /x/v1/y name"))
	policytest.Provision(t, s, p)
	for _, test := range []struct{ target, body, want string }{
		{"/wp-json/wp/v2/types", `{"post":{"name":"s","labels":{"all":"s","one":"x"}},"name":{"name":"s"}}`, `{"post":{"name":"[redacted]","labels":{"all":"[redacted]","one":"x"}},"name":"[redacted]"}`},
		{"/wp-json/wp/v2/types/?_envelope", `{"body":{"post":{"name":"s"}},"status":200}`, `{"body":{"post":{"name":"[redacted]"}},"status":200}`},
		{"/wp-json/wp/v2/types/post", `{"name":"s","x":{"name":"kept"}}`, `{"name":"[redacted]","x":{"name":"kept"}}`},
		{"/wp-json/x/v1/y", `{"x":{"name":"kept"}}`, `{"x":{"name":"kept"}}`},
	} {
		a := &ask.Answer{Status: 200, Header: http.Header{}, Body: []byte(test.body)}
		r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", test.target, "")
		if err := p.Rewrite(r, a); err != nil || string(a.Body) != test.want {
			t.Errorf("%s: %s, %v", test.target, a.Body, err)
		}
	}
}
