package policies

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// switched is a line that is switched on.
func switched(t *testing.T, word, methods, route string, until time.Time) *policy.SwitchedLine {
	t.Helper()
	r := policy.Rule{Allow: "anyone", Routes: []string{route}}
	if methods != "" {
		r.Methods = strings.Split(methods, ",")
	}
	if err := r.Compile(); err != nil {
		t.Fatal(err)
	}
	return policy.NewSwitchedLine(strings.TrimSpace(word+" "+methods)+" "+route, []policy.Rule{r}, until)
}

// lineBlock is what the owner of the site says in TestSwitchedLines.
var lineBlock = []policy.Option{
	policytest.Line("login_only"), policytest.Line("signature hook", policytest.Line("key secret")),
	policytest.Line("allow users /own/v1/**"), policytest.Line("deny /denied/v1/**"), policytest.Line("allow signed hook POST /hook/v1/in"),
	policytest.Line("allow anyone /free/v1/**"), policytest.Line("scope erp", policytest.Line("key a1b2c3d"), policytest.Line("allow GET /wc/v3/orders")),
}

// TestSwitchedLines: what is opened passes only where nothing but login_only refuses it, and what is closed is so for everybody
// whom the platform has not verified, whatever the modes say.
func TestSwitchedLines(t *testing.T) {
	t.Parallel()
	nobody, admin := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, policytest.AdminBody)
	broken := asktest.Answering(500, "")
	key := "Authorization: Basic Y2tfMDAwMDAwMGExYjJjM2Q6Y3NfeA==" // ck_0000000a1b2c3d
	for name, tt := range map[string]struct {
		opens, closes        string // "POST /a/b", several with ";"
		backend              *asktest.Platform
		method, target, body string
		headers              []string
		force                policy.InForce
		want                 string // "passes", or the status and the rule
	}{
		"what nobody opened":        {method: "POST", target: "/acme/v1/x", want: "401 login_only"},
		"what is opened":            {opens: "POST /acme/v1/x", method: "POST", target: "/acme/v1/x", want: "passes"},
		"another method":            {opens: "POST /acme/v1/x", method: "GET", target: "/acme/v1/x", want: "401 login_only"},
		"another route":             {opens: "POST /acme/v1/x", method: "POST", target: "/acme/v1/y", want: "401 login_only"},
		"a line for users":          {opens: " /own/v1/x", method: "GET", target: "/own/v1/x", want: "401 allow users /own/v1/**"},
		"a line that denies":        {opens: " /denied/v1/x", method: "GET", target: "/denied/v1/x", want: "403 deny /denied/v1/**"},
		"a line for who signs":      {opens: "POST /hook/v1/in", method: "POST", target: "/hook/v1/in", want: "401 allow signed hook POST /hook/v1/in"},
		"a built-in guard":          {opens: " /wp/v2/users", method: "GET", target: "/wp/v2/users", want: "401 built-in: only users /wp/v2/users /wp/v2/users/*"},
		"a scope":                   {opens: "POST /wc/v3/orders", method: "POST", target: "/wc/v3/orders", headers: []string{key}, want: "403 scope erp"},
		"a lockdown":                {opens: "POST /acme/v1/x", method: "POST", target: "/acme/v1/x", force: policy.InForce{Locked: true}, want: "401 lockdown"},
		"what is closed as well":    {opens: "POST /acme/v1/x", closes: "POST /acme/v1/x", method: "POST", target: "/acme/v1/x", want: "401 close POST /acme/v1/x"},
		"another word":              {opens: "PUT /wp/v2/plugins/hello", method: "PUT", target: "/wp/v2/plugins/hello", body: `{"plugin":"other"}`, want: "400 parameter_outside_path"},
		"an owner's line, closed":   {closes: "GET /free/v1/x", method: "GET", target: "/free/v1/x", want: "401 close GET /free/v1/x"},
		"beside it":                 {closes: "GET /free/v1/x", method: "GET", target: "/free/v1/y", want: "passes"},
		"closed, observed":          {closes: "GET /free/v1/x", method: "GET", target: "/free/v1/x", force: policy.InForce{Mode: policy.Observe}, want: "401 close GET /free/v1/x"},
		"beside it, observed":       {closes: "GET /free/v1/x", method: "GET", target: "/acme/v1/y", force: policy.InForce{Mode: policy.Observe}, want: "passes"},
		"a login":                   {closes: "GET /free/v1/x", backend: admin, method: "GET", target: "/free/v1/x", headers: []string{policytest.BasicAuth}, want: "passes"},
		"a login that nobody has":   {closes: "GET /free/v1/x", method: "GET", target: "/free/v1/x", headers: []string{policytest.BasicAuth}, want: "401 close GET /free/v1/x"},
		"nobody can say":            {closes: "GET /free/v1/x", backend: broken, method: "GET", target: "/free/v1/x", headers: []string{policytest.BasicAuth}, want: "503 lockdown"},
		"a signature":               {closes: "POST /hook/v1/in", method: "POST", target: "/hook/v1/in", headers: []string{"X-Signature: x"}, want: "401 close POST /hook/v1/in"},
		"OAuth 1":                   {closes: "GET /wc/v3/orders", backend: asktest.Answering(401, `{"code":"woocommerce_rest_authentication_error"}`), method: "GET", target: "/wc/v3/orders?oauth_consumer_key=ck_x&oauth_signature=x&oauth_signature_method=HMAC-SHA1&oauth_timestamp=1&oauth_nonce=a", want: "401 close GET /wc/v3/orders"},
		"by rest_route":             {closes: "GET /free/v1/x", method: "GET", target: "/?rest_route=/free/v1/x", want: "401 close GET /free/v1/x"},
		"HEAD":                      {closes: "GET /free/v1/x", method: "HEAD", target: "/free/v1/x", want: "401 close GET /free/v1/x"},
		"by a dot":                  {closes: " /free.a/v1/x", method: "GET", target: "/freeXa/v1/x", force: policy.InForce{Mode: policy.Observe}, want: "400 route_dot"},
		"by a word":                 {closes: "PUT /wp/v2/plugins/hello", method: "PUT", target: "/wp/v2/plugins/other", body: `{"plugin":"hello"}`, force: policy.InForce{Mode: policy.Observe}, want: "400 parameter_outside_path"},
		"without a certain reading": {closes: "GET /free/v1/x", method: "GET", target: "/?rest_route[]=/free/v1/x", force: policy.InForce{Mode: policy.Observe}, want: "400 variables"},
		"a part of a batch":         {closes: "POST /free/v1/x", backend: admin, method: "POST", target: "/batch/v1", body: `{"requests":[{"path":"/free/v1/x"}]}`, headers: []string{policytest.BasicAuth}, want: "passes"},
		"a part of nobody's":        {closes: "POST /free/v1/x", method: "POST", target: "/wc/store/v1/batch", body: `{"requests":[{"path":"/free/v1/x"}]}`, force: policy.InForce{Mode: policy.Observe}, want: "401 close POST /free/v1/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewSite(t)
			c := chained(t, s, policy.Enforce, lineBlock)
			if tt.backend == nil {
				tt.backend = nobody
			}
			target := "/wp-json" + tt.target
			if strings.HasPrefix(tt.target, "/?") {
				target = tt.target
			}
			headers := tt.headers
			if tt.body != "" {
				headers = append(headers, policytest.JSONType)
			}
			r := policytest.Request(t, s, tt.backend, tt.method, target, tt.body, headers...)
			on := new(policy.Switches)
			for word, lines := range map[string]string{"open": tt.opens, "close": tt.closes} {
				if methods, route, ok := strings.Cut(lines, " "); ok {
					map[string]*policy.SwitchedLines{"open": &on.Opens, "close": &on.Closes}[word].Set([]*policy.SwitchedLine{switched(t, word, methods, route, time.Time{})})
				}
			}
			if tt.force.Mode != "" {
				on.Mode.Set(policy.Switched{Mode: tt.force.Mode, Until: s.Now().Add(time.Hour)})
			}
			if tt.force.Locked {
				on.Lockdown.Set(policy.Switched{Until: s.Now().Add(time.Hour)})
			}
			r.InForce = on.InForce(s.Now)
			d := c.Judge(t.Context(), r)
			if got := outcome(&d); got != tt.want {
				t.Errorf("got %q, want %q: %+v, %v", got, tt.want, d.Verdict, d.Err)
			}
		})
	}
}

// TestOpen_Judged: a line is said to let somebody pass where, and only where, an anonymous call passes by it, and its stops are lines
// that refuse calls of it.
func TestOpen_Judged(t *testing.T) {
	t.Parallel()
	nobody := asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	segments := []string{"acme", "own", "wp"}
	blocks := [][]string{
		{},
		{"login_only"},
		{"login_only", "deny /acme/**"},
		{"login_only", "allow users /own/**"},
		{"login_only", "deny GET /acme/v1/x", "allow role editor /*/v1/y"},
		{"login_only", "allow anyone /own/v1/x"},
		{"login_only", "allow anyone GET /**"},
		{"deny /**"},
		{"access off"},
		{"login_only", "signature hook { key secret }", "allow signed hook POST /own/v1/x"},
		{"login_only", "observe"},
		{"login_only", "allow users PUT,DELETE /acme/v1/:id"},
	}
	lines := []string{"GET /acme/v1/x", " /own/v1/x", "POST /own/v1/x", "GET /*/v1/y", " /acme/v1/:id", "POST /wp/v2/users", " /*/*/*", "DELETE /acme/v1/x"}
	for _, block := range blocks {
		var own []policy.Option
		mode := policy.Enforce
		for _, line := range block {
			if line == "observe" {
				mode = policy.Observe
			} else if head, inner, ok := strings.Cut(strings.TrimSuffix(line, " }"), " { "); ok {
				own = append(own, policytest.Line(head, policytest.Line(inner)))
			} else {
				own = append(own, policytest.Line(line))
			}
		}
		s := policytest.NewSite(t)
		c := chained(t, s, mode, own)
		for _, text := range lines {
			methods, route, _ := strings.Cut(text, " ")
			line := switched(t, "open", methods, route, time.Time{})
			opening, err := review.Open(c, line, policy.InForce{})
			if err != nil {
				t.Fatal(err)
			}
			passes := false
			stops := map[string]bool{}
			for _, method := range policy.MethodsApart {
				for _, first := range segments {
					for _, rest := range []string{"/v1/x", "/v1/y", "/v1/7", "/v2/users"} {
						r := policytest.Request(t, s, nobody, method, "/wp-json/"+first+rest, "")
						r.InForce = policy.InForce{}.Lines([]*policy.SwitchedLine{line}, nil)
						if _, matches := r.InForce.Opened(r.Call); !matches {
							continue
						}
						d := c.Judge(t.Context(), r)
						passes = passes || d.Outcome != policy.Refuse && r.OpenedBy(r.Call) != nil && mode == policy.Enforce // else it passes without the line
						if d.Outcome == policy.Refuse {
							stops[d.Verdict.Rule] = true
						}
					}
				}
			}
			if opening.Passes != passes {
				t.Errorf("%q, open %s: passes %v, says %v", block, text, passes, opening.Passes)
			}
			for _, stop := range opening.Stops {
				if stop.By == nil || !stops[stop.By.String()] && !strings.ContainsAny(text, "*:") {
					t.Errorf("%q, open %s: no call is refused by %v", block, text, stop.By)
				}
				delete(stops, stop.By.String())
			}
			if len(stops) > 0 {
				t.Errorf("%q, open %s: nothing is said of %v", block, text, stops)
			}
		}
	}
}

// TestClosed_Allocates: many lines that close calls cost no memory for a call of another route.
func TestClosed_Allocates(t *testing.T) {
	s := policytest.NewSite(t)
	c := chained(t, s, policy.Enforce, nil)
	on := new(policy.Switches)
	var lines []*policy.SwitchedLine
	for i := range 100 {
		lines = append(lines, switched(t, "close", "", "/acme/v1/x"+strconv.Itoa(i), s.Now().Add(time.Hour)))
	}
	on.Closes.Set(lines)
	r := policytest.Request(t, s, nil, "GET", "/wp-json/acme/v1/y", "")
	n := testing.AllocsPerRun(10, func() {
		policytest.Forget(r)
		r.InForce = on.InForce(s.Now)
		if d := c.Judge(t.Context(), r); d.Outcome != policy.Pass {
			t.Error(d)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestOpened_Embedded: a built-in guard keeps what is embedded from a line that opens calls, as it keeps the calls themselves.
func TestOpened_Embedded(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	c := chained(t, s, policy.Enforce, []policy.Option{policytest.Line("login_only")})
	r := policytest.Request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/posts/1?_embed", "")
	r.InForce = r.InForce.Lines([]*policy.SwitchedLine{switched(t, "open", "GET", "/wp/v2/*/*", time.Time{})}, nil)
	a := asktest.JSON(200, `{"_links":{"author":[{"href":"http://example.com/wp-json/wp/v2/users/1","embeddable":true}],"up":[{"href":"http://example.com/wp-json/wp/v2/pages/2","embeddable":true}]},"_embedded":{"author":[{"secret":1}],"up":[{"plain":1}]}}`)
	for _, m := range c.Policies() {
		if p, ok := m.Policy.(policy.AnswerChanger); ok && m.Name == "access" && p.Rewrites(r) == policy.RewriteBody {
			if err := p.Rewrite(r, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	if body := string(a.Body); strings.Contains(body, "secret") || !strings.Contains(body, "plain") {
		t.Error(body)
	}
}

// TestClosed_Embedded: what a line closes is not embedded either, for whom the platform has not verified: nobody may claim to be
// Jetpack, and be shown it.
func TestClosed_Embedded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		query  string
		header []string
		shows  bool
	}{
		"a visitor":  {"?_embed", nil, false},
		"unverified": {"?_embed&_for=jetpack&token=a:1:2&signature=x&timestamp=1&nonce=b", nil, false},
		"a user":     {"?_embed", []string{policytest.BasicAuth}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewSite(t)
			s.Own.Jetpack = true
			p := observing(t, s).WithLockdown()[1].Policy.(policy.AnswerChanger)
			r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", "/wp-json/consent/v1/posts"+tt.query, "", tt.header...)
			r.InForce = r.InForce.Lines(nil, []*policy.SwitchedLine{switched(t, "close", "GET", "/other/v1/**", time.Time{})})
			shown := `{"_links":{"x":[{"href":"http://example.com/wp-json/other/v1/1","embeddable":true}],"y":[{"href":"http://example.com/wp-json/free/v1/1","embeddable":true}]},"_embedded":{"x":[{"secret":1}],"y":[{"plain":1}]}}`
			a := asktest.JSON(200, shown)
			if p.Rewrites(r) == policy.RewriteBody {
				if err := p.Rewrite(r, a); err != nil {
					t.Fatal(err)
				}
			}
			if body := string(a.Body); strings.Contains(body, "secret") != tt.shows || !strings.Contains(body, "plain") {
				t.Error(body)
			}
		})
	}
}

// outcome is "passes", or the status and the rule of a refusal.
func outcome(d *policy.Decision) string {
	if d.Outcome != policy.Refuse {
		return "passes"
	}
	return strconv.Itoa(d.Verdict.Status) + " " + d.Verdict.Rule
}
