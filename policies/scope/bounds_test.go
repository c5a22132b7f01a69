package scope_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	ratelimit "github.com/restwarden/restwarden/policies/rate_limit"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/scope"
	"github.com/restwarden/restwarden/policies/store"
)

// shop accepts the key that ends in a1b2c3d.
func shop(q ask.Question) (*ask.Answer, error) {
	if strings.HasSuffix(q.Route, "/orders") && q.Header.Get("Authorization") == strings.TrimPrefix(basic(key), "Authorization: ") {
		return asktest.JSON(200, `[]`), nil
	}
	return asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view","message":"","data":{"status":401}}`), nil
}

// TestScope_Rate: calls of a verified credential count, each part of a batch for one, and those that only name it do not.
func TestScope_Rate(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, line("scope erp", "key a1b2c3d", "allow /wc/v3/**", "rate 4/1h"))
	const orders = "/wp-json/wc/v3/orders"
	send := func(method, target, body, header string) policy.Decision {
		headers := append(strings.Split(header, "\n"), policytest.JSONType)
		return c.Judge(t.Context(), policytest.Request(t, s, &asktest.Platform{Answer: shop}, method, target, body, headers...))
	}
	for range 9 {
		if d := send("GET", orders, "", basic("ck_ffffffffa1b2c3d")); status(d) != 0 {
			t.Fatalf("a key that the shop does not know, and that ends as the other: %+v", d)
		}
	}
	for name, d := range map[string]policy.Decision{
		"a signature":         send("GET", orders+"?oauth_consumer_key="+key, "", "X-A: b"),
		"beside a cookie":     send("GET", orders, "", basic(key)+"\nCookie: wordpress_logged_in_abc=paul%7C1%7Cx%7Cy"),
		"beside a second key": send("GET", orders+"?consumer_key="+other, "", basic(key)),
		"beside a token":      send("GET", orders, "", basic(key)+"\nX-Mcp-Api-Key: "+other+":x"),
	} {
		if status(d) != 403 || !strings.Contains(d.Verdict.Note, "It has a rate") {
			t.Errorf("%s, what cannot be counted: %+v", name, d)
		}
	}
	if d := send("POST", orders+"/batch", `{"update":[{"id":1},{"id":2}]}`, basic(key)); status(d) != 0 {
		t.Fatalf("a batch of two: %+v", d)
	}
	if d := send("POST", orders+"/batch", `{"update":[]}`, basic(key)); status(d) != 0 {
		t.Fatalf("a batch of none: %+v", d)
	}
	for i := range 2 {
		d := send("GET", orders, "", basic(key))
		if want := map[bool]int{false: 0, true: 429}[i == 1]; status(d) != want {
			t.Errorf("call %d: %+v", i, d)
		} else if want != 0 && (d.Verdict.Header.Get("Retry-After") == "" || d.Verdict.Code != policy.CodeTooMany || d.Verdict.Rule != "scope erp") {
			t.Errorf("%+v", d.Verdict)
		}
	}
	if d := send("GET", orders, "", basic(other)); status(d) != 0 {
		t.Errorf("another key: %+v", d)
	}
}

// TestScope_RateLimit: a limit that names a scope counts the calls of its credentials alone, once the platform has
// verified them, and those of which nobody can tell, as of one beside another.
func TestScope_RateLimit(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{scope.Entry, ratelimit.Entry}, line("scope erp", "key a1b2c3d", "allow /wc/v3/**"), policytest.Line("rate_limit 1/1h scope erp GET /wc/v3/**"))
	for i, tt := range []struct {
		header string
		status int
	}{
		{basic("ck_ffffffffa1b2c3d"), 0},
		{basic(other), 0},
		{basic(other), 0},
		{"X-A: b", 0},
		{"X-A: b", 0},
		{basic(key), 0},
		{basic(key), 429},
		{basic(other), 0},
		{basic(key) + "\nCookie: wordpress_logged_in_abc=paul%7C1%7Cx%7Cy", 429},
		{basic(key) + "\nX-Mcp-Api-Key: " + other + ":x", 429},
		{`Authorization: OAuth oauth_consumer_key="` + key + `"`, 429},
		{"Cookie: wordpress_logged_in_abc=paul%7C1%7Cx%7Cy", 0},
	} {
		r := policytest.Request(t, s, &asktest.Platform{Answer: shop}, http.MethodGet, "/wp-json/wc/v3/orders", "", strings.Split(tt.header, "\n")...)
		if d := c.Judge(t.Context(), r); status(d) != tt.status {
			t.Errorf("%d: %+v", i, d)
		}
	}
	limits := new(ratelimit.RateLimits)
	policytest.Configure(t, limits, policytest.Line("rate_limit 1/1h scope erq GET /wc/v3/**"))
	if err := policytest.ProvisionError(s, limits); err == nil || !strings.Contains(err.Error(), `there is no scope "erq": did you mean erp?`) {
		t.Error(err)
	}
}

// TestScope_Allocations: a request without a credential costs a site with scopes nothing.
func TestScope_Allocations(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(scope.Scopes)
	policytest.Configure(t, p, line("scope erp", "key *", "password *", "user *", "allow /**"))
	policytest.Provision(t, s, p)
	call := policytest.Request(t, s, nil, http.MethodGet, "/wp-json/wc/store/v1/products?per_page=3", "", "Cookie: a=b", "User-Agent: x")
	write := policytest.Request(t, s, nil, http.MethodPost, "/wp-json/wc/store/v1/cart/add-item", `{"id":1}`, policytest.JSONType, "Cookie: a=b", "Nonce: x")
	page := policytest.Request(t, s, nil, http.MethodGet, "/shop/?orderby=price", "", "Cookie: a=b")
	if n := testing.AllocsPerRun(100, func() {
		for _, r := range [...]*policy.Request{call, write} {
			_, _ = p.CheckReading(r)
			_, _ = p.Check(t.Context(), r)
			_ = p.Rewrites(r)
		}
		_, _ = p.CheckPage(page)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// fallback is a store that counts by itself while what it shares is gone.
type fallback struct{ store.Store }

func (fallback) Shared() store.Store { return policytest.BrokenStore{} }

// TestScope_RateWithoutStore: where the gateways cannot count together, on_error says what happens.
func TestScope_RateWithoutStore(t *testing.T) {
	t.Parallel()
	for onError, want := range map[string]int{"refuse": 503, "pass": 0} {
		s := policytest.NewSite(t)
		s.Store = fallback{s.Store}
		c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, line("scope erp", "key a1b2c3d", "allow /wc/v3/**", "rate 4/1h"), line("scope", "on_error "+onError))
		r := policytest.Request(t, s, &asktest.Platform{Answer: shop}, http.MethodGet, "/wp-json/wc/v3/orders", "", basic(key))
		if d := c.Judge(t.Context(), r); status(d) != want {
			t.Errorf("%s: %+v", onError, d)
		}
	}
}

// TestScope_Widening: to write where a credential can widen its scope needs a line that spells the route out.
func TestScope_Widening(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		allow, method, target string
		status                int
	}{
		{"allow /**", "GET", "/wp/v2/users", 0},
		{"allow /**", "POST", "/wp/v2/users", 403},
		{"allow /wp/v2/*", "POST", "/wp/v2/users", 403},
		{"allow /wp/v2/users", "POST", "/wp/v2/users", 0},
		{"allow /wp/v2/users/**", "POST", "/wp/v2/users/5", 0},
		{"allow /wp/v2/users/**", "POST", "/wp/v2/users/5/application-passwords", 403},
		{"allow /wp/v2/users/:id/application-passwords", "POST", "/wp/v2/users/5/application-passwords", 0},
		{"allow /wc/v3/**", "POST", "/wc/v3/webhooks", 403},
		{"allow /wc/v3/**", "PUT", "/wc/v3/webhooks/3", 403},
		{"allow /wc/v3/**", "POST", "/wc/v3/webhooks/batch", 403},
		{"allow /wc/v3/webhooks/*", "PUT", "/wc/v3/webhooks/3", 0},
		{"allow /wc/v3/**", "PUT", "/wc/v3/payment_gateways/bacs", 403},
		{"allow /wc-admin/**", "POST", "/wc-admin/options", 403},
		{"allow /wc-admin/**", "POST", "/wc-admin/settings", 403},
		{"allow /wc-admin/**", "POST", "/wc-admin/themes", 403},
		{"allow /wc-admin/**", "POST", "/wc-admin/blueprint/import-step", 403},
		{"allow /wc-admin/**", "POST", "/wc-admin/mobile-app/qr-login-token", 403},
		{"allow /wc-admin/mobile-app/*", "POST", "/wc-admin/mobile-app/qr-login-token", 0},
		{"allow /wc/v3/**", "PUT", "/wc/v3/customers/1", 403},
		{"allow /wc/v3/**", "POST", "/wc/v3/customers", 0},
		{"allow /wc/v3/**", "POST", "/wc/v3/customers/batch", 403},
		{"allow /wc/v3/customers/*", "PUT", "/wc/v3/customers/1", 0},
		{"allow /wc/v3/**", "PUT", "/wc/v3/orders/3", 0},
		{"allow /wc/v3/**", "PUT", "/wc/v3/settings/general/x", 403},
		{"allow /**", "POST", "/?rest_route=/wp/v2/settings", 403},
		{"allow /**", "POST", "/wp/v2/posts?_method=GET", 0},
		{"allow /**", "GET", "/wp/v2/settings?_method=POST", 403},
		{"allow PUT /wc/v3/orders/*", "PUT", "/wc/v3/orders/3", 0},
		{"allow PUT /wc/v3/orders/*", "PUT", "/wc/v3/orders/batch", 403},
		{"allow /wc/v3/orders/:id", "PATCH", "/wc/v3/orders/batch", 403},
		{"allow /wc/v3/orders/*", "POST", "/?rest_route=/WC/v3/orders/batch/", 403},
		{"allow /wc/v3/*/batch", "POST", "/wc/v3/orders/batch", 0},
		{"allow /wc/v3/**", "POST", "/wc/v3/orders/batch", 0},
	} {
		target := "/wp-json" + tt.target
		if strings.HasPrefix(tt.target, "/?") {
			target = tt.target
		}
		if d := judge(t, judged{tt.method, target, "", []string{basic(key)}}, nil, line("scope x", "key a1b2c3d", tt.allow)); status(d) != tt.status {
			t.Errorf("%s, %s %s: %+v", tt.allow, tt.method, tt.target, d.Verdict)
		}
	}
}

// TestScope_Odd: W21 for what nothing can use, W22 for keys in two scopes or in none, W23 for what widens itself.
func TestScope_Odd(t *testing.T) {
	t.Parallel()
	others := line("scope others", "key *")
	for name, tt := range map[string]struct {
		options []policy.Option
		codes   string
	}{
		"nothing":               {[]policy.Option{line("scope erp", "key a1b2c3d", "allow GET /wc/v3/orders"), others}, ""},
		"some keys have none":   {[]policy.Option{line("scope erp", "key a1b2c3d", "allow GET /wc/v3/orders")}, "W22:7"},
		"a key twice":           {[]policy.Option{line("scope a", "key a1b2c3d"), line("scope b", "key a1b2c3d"), others}, "W22:7"},
		"a password twice":      {[]policy.Option{line("scope a", "password "+uuid), line("scope b", "password "+strings.ToUpper(uuid))}, "W22:7"},
		"ended":                 {[]policy.Option{line("scope a", "key *", "allow GET /wc/v3/orders", "until 2020-01-01")}, "W21:7"},
		"a rule closes it":      {[]policy.Option{line("scope a", "key *", "allow GET /wc/v3/orders"), policytest.Line("deny /wc/v3/**")}, "W21:7"},
		"a rule opens a part":   {[]policy.Option{line("scope a", "key *", "allow GET /wc/v3/orders /wc/v3/x"), policytest.Line("deny /wc/v3/orders")}, ""},
		"a password behind one": {[]policy.Option{line("scope a", "password *", "allow GET /x"), policytest.Line("deny /x")}, ""},
		"it writes webhooks":    {[]policy.Option{line("scope a", "key *", "allow /wc/v3/webhooks")}, "W23:7"},
		"it reads them":         {[]policy.Option{line("scope a", "key *", "allow GET /wc/v3/webhooks")}, ""},
		"a wide line":           {[]policy.Option{line("scope a", "key *", "allow /**")}, ""},
		"another door":          {[]policy.Option{line("scope a", "password *", "other_doors open")}, "W23:7"},
		"a user":                {[]policy.Option{line("scope a", "user maria")}, "W23:7"},
		"it hides":              {[]policy.Option{line("scope a", "key *", "allow GET /x", "hide /x y")}, "W23:7"},
		"it looks":              {[]policy.Option{line("scope a", "key *", "mode observe")}, "W11:7"},
	} {
		c := policytest.Guarded(t, policytest.NewSite(t), []policy.Entry{access.Entry, scope.Entry}, tt.options...)
		if got := policytest.Codes(review.OddIn(c)); got != tt.codes {
			t.Errorf("%s: %q, want %q", name, got, tt.codes)
		}
	}
}
