package policies

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// signatures are two of them, with keys of their own.
func signatures(more ...string) []Option {
	options := []Option{line("signature cookie", line("key secret")), line("signature other", line("key second"))}
	return append(options, rules(more...)...)
}

// TestSigned_OpensNoGuard: a signed rule opens store-auth, but no other built-in rule.
func TestSigned_OpensNoGuard(t *testing.T) {
	right := []string{signedStamp, "X-Signature: " + stampMAC}
	wide := signatures("allow signed cookie /cookie/v1/** /feed/** /wp/** /batch/**")
	and := func(headers ...string) []string { return append(headers, right...) }
	runGuards(t, map[string]guardTest{
		"store-auth":                         {wide, adminBody, "POST", "/wp-json/cookie/v1/store-auth", "", right, 0},
		"store-auth, not signed":             {wide, adminBody, "POST", "/wp-json/cookie/v1/store-auth", "", nil, 401},
		"upload-logo":                        {wide, adminBody, "POST", "/wp-json/cookie/v1/upload-logo", "", right, 403},
		"upload-logo as an administrator":    {wide, adminBody, "POST", "/wp-json/cookie/v1/upload-logo", "", and(basicAuth), 403},
		"troubleshooting":                    {wide, adminBody, "GET", "/wp-json/feed/troubleshooting", "", right, 403},
		"troubleshooting of a version":       {wide, adminBody, "GET", "/wp-json/feed/v1/troubleshooting", "", right, 403},
		"troubleshooting as a customer":      {wide, clientBody, "GET", "/wp-json/feed/troubleshooting", "", and(basicAuth), 403},
		"troubleshooting, signed by one":     {wide, adminBody, "GET", "/wp-json/feed/troubleshooting", "", and(basicAuth), 0},
		"troubleshooting, not signed":        {wide, adminBody, "GET", "/wp-json/feed/troubleshooting", "", []string{basicAuth}, 401},
		"users":                              {wide, adminBody, "GET", "/wp-json/wp/v2/users", "", right, 403},
		"one user":                           {wide, adminBody, "GET", "/wp-json/wp/v2/users/1", "", right, 403},
		"batch":                              {wide, adminBody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, and(jsonType), 403},
		"batch of a rule for exactly it":     {signatures("allow signed cookie /batch/v1"), adminBody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, and(jsonType), 401},
		"another signature of the same site": {signatures("allow signed other /x/**"), adminBody, "GET", "/wp-json/x/v1", "", right, 401},
		"the first of two":                   {signatures("allow signed cookie,other /x/**"), adminBody, "GET", "/wp-json/x/v1", "", right, 0},
		"the second of two":                  {signatures("allow signed other,cookie /x/**"), adminBody, "GET", "/wp-json/x/v1", "", right, 0},
	})
}

// TestSigned_NotEmbedded: an object of a signed route is not embedded in another answer,
// since the signature does not cover it.
func TestSigned_NotEmbedded(t *testing.T) {
	s := newSite(t)
	s.Signatures = []string{"cookie"}
	p := new(Access)
	configure(t, p, line("allow signed cookie /wp/v2/comments/**"))
	provision(t, s, p)
	a := asktest.JSON(http.StatusOK, embeddedAnswer)
	a.Header.Set("ETag", `"x"`)
	a.Header.Set("Last-Modified", "Sat, 22 Nov 2025 02:30:00 GMT")
	if err := p.Rewrite(request(t, s, nil, "GET", "/wp-json/wp/v2/posts?_embed", ""), a); err != nil {
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
	s := newSite(t)
	p := new(Access)
	configure(t, p, line("allow users /wp/v2/comments/**"))
	provision(t, s, p)
	a := asktest.JSON(http.StatusOK, embeddedAnswer)
	r := request(t, s, asktest.Failing(ask.ErrUndecided), "GET", "/wp-json/wp/v2/posts?_embed", "", basicAuth)
	if err := p.Rewrite(r, a); err != nil || strings.Contains(string(a.Body), `"id":9`) {
		t.Errorf("got %s, %v", a.Body, err)
	}
}
