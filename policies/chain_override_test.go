package policies

import (
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	ordertype "github.com/restwarden/restwarden/policies/order_type"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	ratelimit "github.com/restwarden/restwarden/policies/rate_limit"
	"github.com/restwarden/restwarden/policies/store"
)

// TestOverride_BothMethods: where a header or the query changes the method, the call and the one
// of a server that drops these must both be allowed.
func TestOverride_BothMethods(t *testing.T) {
	const posts, sub = "/wp-json/wp/v2/posts/5", "/wp-json/wc/v3/orders/13"
	for name, test := range map[string]struct {
		rules                []string
		method, target, body string
		as                   string
		status               int
		methodOf             string // of the call that is refused
	}{
		"the override is denied":     {[]string{"deny DELETE /wp/v2/posts/*"}, "POST", posts, "", "DELETE", 403, "DELETE"},
		"the request line is denied": {[]string{"deny POST /wp/v2/posts/*"}, "POST", posts, "", "DELETE", 403, "POST"},
		"GET, denied as POST":        {[]string{"deny POST /wp/v2/posts/*"}, "POST", posts, "", "GET", 403, "POST"},
		"POST, denied as GET":        {[]string{"deny GET /wp/v2/posts/*"}, "GET", posts, "", "POST", 403, "GET"},
		"both are allowed":           {[]string{"deny PATCH /wp/v2/posts/*"}, "POST", posts, "", "DELETE", 0, ""},
		"the query says so, too":     {[]string{"deny POST /wp/v2/posts/*"}, "POST", posts + "?_method=DELETE", "", "DELETE", 403, "POST"},
		"the query alone":            {[]string{"deny POST /wp/v2/posts/*"}, "POST", posts + "?_method=DELETE", "", "", 403, "POST"},
		"the query alone, both":      {[]string{"deny PATCH /wp/v2/posts/*"}, "POST", posts + "?_method=DELETE", "", "", 0, ""},
		"the query changes nothing":  {[]string{"deny GET /wp/v2/posts/*"}, "POST", posts + "?_method=post", "", "", 0, ""},
		"an update behind the query": {nil, "POST", sub + "?_method=GET", "{}", "", 400, "POST"},
		"the header changes nothing": {[]string{"deny GET /wp/v2/posts/*"}, "POST", posts, "", "POST", 0, ""},
		"an update behind GET":       {nil, "POST", sub, "{}", "GET", 400, "POST"},
		"an update behind OPTIONS":   {nil, "PUT", sub, "{}", "OPTIONS", 400, "PUT"},
		"a batch either way":         {[]string{"deny POST /wc/v3/products/batch"}, "POST", "/wp-json/wc/v3/products/batch", `{"update":[{"id":1}]}`, "PUT", 403, "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			access := &access.Access{Recommended: "off"}
			for _, rule := range test.rules {
				policytest.Configure(t, access, policytest.Line(rule))
			}
			chain := policy.Link(s, "", policytest.Linked("access", policytest.Provision(t, s, access)), policytest.Linked("order_type", policytest.Provision(t, s, new(ordertype.OrderType))))
			headers := []string{policytest.JSONType, policytest.BasicAuth}
			if test.as != "" {
				headers = append(headers, policytest.Override+test.as)
			}
			r := policytest.Request(t, s, policytest.Shop(nil), test.method, test.target, test.body, headers...)
			d := chain.Judge(t.Context(), r)
			if d.Verdict.Status != test.status || test.status != 0 && r.Call.Method != test.methodOf {
				t.Errorf("%s: %+v (%v), want %d", r.Call.Method, d.Verdict, d.Err, test.status)
			}
		})
	}
}

// TestOverride_CountsOnce: a request that is judged as two calls counts once in a limit, and
// uses its signature once.
func TestOverride_CountsOnce(t *testing.T) {
	s := policytest.NewSite(t)
	limits := rateLimited(t, s, "rate_limit 2/1m /wp/v2/**")
	call := func(as string) policy.Decision {
		return policytest.Alone("rate_limit", limits).Judge(t.Context(), policytest.Request(t, s, nil, "POST", "/wp-json/wp/v2/posts/5", "", policytest.Override+as))
	}
	for i, want := range []policy.Outcome{policy.Pass, policy.Pass, policy.Refuse} {
		if d := call("PUT"); d.Outcome != want {
			t.Errorf("%d: %v", i, d.Outcome)
		}
	}
	var err error
	if s.Store, err = store.NewMemory(); err != nil {
		t.Fatal(err)
	}
	limits = rateLimited(t, s, "rate_limit 2/1m POST /wp/v2/**")
	for i, want := range []policy.Outcome{policy.Pass, policy.Pass, policy.Refuse} {
		if d := call("GET"); d.Outcome != want {
			t.Errorf("behind GET, %d: %v", i, d.Outcome)
		}
	}

	s = policytest.NewSite(t)
	c := guarded(t, s, policytest.Line("signature cookie", policytest.Line("key secret"), policytest.Line("once")), policytest.Line("allow signed cookie /cookie/v1/**"))
	for i, want := range []policy.Outcome{policy.Pass, policy.Refuse} {
		r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/notes", "", policytest.SignedStamp, "X-Signature: "+policytest.StampMAC, policytest.Override+"PUT")
		if r.Call.WithoutOverride() == nil {
			t.Fatal("one reading")
		}
		if d := c.Judge(t.Context(), r); d.Outcome != want {
			t.Errorf("request %d: %+v", i, d)
		}
	}
}

// rateLimited is the policy of one line.
func rateLimited(tb testing.TB, s *policy.Site, text string) *ratelimit.RateLimits {
	p := new(ratelimit.RateLimits)
	policytest.Configure(tb, p, policytest.Line(text))
	return policytest.Provision(tb, s, p)
}
