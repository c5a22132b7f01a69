package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// signatures are two of them, with keys of their own.
func signatures(more ...string) []policy.Option {
	options := []policy.Option{policytest.Line("signature cookie", policytest.Line("key secret")), policytest.Line("signature other", policytest.Line("key second"))}
	return append(options, rules(more...)...)
}

// TestSigned_OpensNoGuard: a signed rule opens store-auth, but no other built-in rule.
func TestSigned_OpensNoGuard(t *testing.T) {
	right := []string{policytest.SignedStamp, "X-Signature: " + policytest.StampMAC}
	wide := signatures("allow signed cookie /cookie/v1/** /feed/** /wp/** /batch/**")
	and := func(headers ...string) []string { return append(headers, right...) }
	runGuards(t, map[string]guardTest{
		"store-auth":                         {wide, policytest.AdminBody, "POST", "/wp-json/cookie/v1/store-auth", "", right, 0},
		"store-auth, not signed":             {wide, policytest.AdminBody, "POST", "/wp-json/cookie/v1/store-auth", "", nil, 401},
		"upload-logo":                        {wide, policytest.AdminBody, "POST", "/wp-json/cookie/v1/upload-logo", "", right, 403},
		"upload-logo as an administrator":    {wide, policytest.AdminBody, "POST", "/wp-json/cookie/v1/upload-logo", "", and(policytest.BasicAuth), 403},
		"troubleshooting":                    {wide, policytest.AdminBody, "GET", "/wp-json/feed/troubleshooting", "", right, 403},
		"troubleshooting of a version":       {wide, policytest.AdminBody, "GET", "/wp-json/feed/v1/troubleshooting", "", right, 403},
		"troubleshooting as a customer":      {wide, policytest.ClientBody, "GET", "/wp-json/feed/troubleshooting", "", and(policytest.BasicAuth), 403},
		"troubleshooting, signed by one":     {wide, policytest.AdminBody, "GET", "/wp-json/feed/troubleshooting", "", and(policytest.BasicAuth), 0},
		"troubleshooting, not signed":        {wide, policytest.AdminBody, "GET", "/wp-json/feed/troubleshooting", "", []string{policytest.BasicAuth}, 401},
		"users":                              {wide, policytest.AdminBody, "GET", "/wp-json/wp/v2/users", "", right, 403},
		"one user":                           {wide, policytest.AdminBody, "GET", "/wp-json/wp/v2/users/1", "", right, 403},
		"batch":                              {wide, policytest.AdminBody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, and(policytest.JSONType), 403},
		"batch of a rule for exactly it":     {signatures("allow signed cookie /batch/v1"), policytest.AdminBody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, and(policytest.JSONType), 401},
		"another signature of the same site": {signatures("allow signed other /x/**"), policytest.AdminBody, "GET", "/wp-json/x/v1", "", right, 401},
		"the first of two":                   {signatures("allow signed cookie,other /x/**"), policytest.AdminBody, "GET", "/wp-json/x/v1", "", right, 0},
		"the second of two":                  {signatures("allow signed other,cookie /x/**"), policytest.AdminBody, "GET", "/wp-json/x/v1", "", right, 0},
	})
}

// TestSigned_NotEmbedded: an object of a signed route is not embedded in another answer,
// since the signature does not cover it.
func TestSigned_NotEmbedded(t *testing.T) {
	s := policytest.NewSite(t)
	s.Signatures = []string{"cookie"}
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow signed cookie /wp/v2/comments/**"))
	policytest.Provision(t, s, p)
	a := asktest.JSON(http.StatusOK, embeddedAnswer)
	a.Header.Set("ETag", `"x"`)
	a.Header.Set("Last-Modified", "Sat, 22 Nov 2025 02:30:00 GMT")
	if err := p.Rewrite(policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts?_embed", ""), a); err != nil {
		t.Fatal(err)
	}
	if body := string(a.Body); strings.Contains(body, `"id":9`) || !strings.Contains(body, `"id":4`) {
		t.Errorf("got %s", body)
	}
	if a.Header.Get("ETag")+a.Header.Get("Last-Modified") != "" {
		t.Errorf("the changed answer keeps what names the platform's: %v", a.Header)
	}
}

// TestEmbedded_WhereNobodyKnows: an object about which the rules cannot decide is not
// shown.
func TestEmbedded_WhereNobodyKnows(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow users /wp/v2/comments/**"))
	policytest.Provision(t, s, p)
	a := asktest.JSON(http.StatusOK, embeddedAnswer)
	r := policytest.Request(t, s, asktest.Failing(ask.ErrUndecided), "GET", "/wp-json/wp/v2/posts?_embed", "", policytest.BasicAuth)
	if err := p.Rewrite(r, a); err != nil || strings.Contains(string(a.Body), `"id":9`) {
		t.Errorf("got %s, %v", a.Body, err)
	}
}
