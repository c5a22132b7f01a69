package scope_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/scope"
)

const (
	key   = "ck_0123456789abcdef0123456789abcdefa1b2c3d"
	other = "ck_0123456789abcdef0123456789abcdefaaaaaaa"
	uuid  = "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"
)

// line is a line of the directive; those with a tab in front are its block.
func line(text string, block ...string) policy.Option {
	o := policytest.Line(text)
	for _, inner := range block {
		if last := len(o.Block) - 1; strings.HasPrefix(inner, "\t") {
			o.Block[last].Block = append(o.Block[last].Block, policytest.Line(inner))
		} else {
			o.Block = append(o.Block, policytest.Line(inner))
		}
	}
	return o
}

func basic(name string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":cs_secret"))
}

// cleaned is a name in Authorization as the platform looks for it.
func cleaned(name string) string {
	return strings.ToLower(strings.Trim(marks.ReplaceAllString(name, ""), " \x00"))
}

var marks = regexp.MustCompile(`<[^>]*>|%[0-9a-fA-F]{2}`)

// platform knows maria, who logs in by her name or her e-mail, with one application password.
func platform(q ask.Question) (*ask.Answer, error) {
	name := ""
	if _, encoded, ok := strings.Cut(q.Header.Get("Authorization"), "Basic "); ok {
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		name, _, _ = strings.Cut(string(decoded), ":")
		name = cleaned(name)
	}
	known := name == "maria" || strings.HasSuffix(name, "maria@example.com") || q.Header.Get("Authorization") == "Bearer maria"
	switch {
	case strings.HasSuffix(q.Route, "/introspect") && known && name != "":
		return asktest.JSON(200, `{"uuid":"`+uuid+`"}`), nil
	case strings.HasSuffix(q.Route, "/users/me") && known:
		return asktest.JSON(200, `{"id":7,"username":"Maria","roles":["editor"],"capabilities":{}}`), nil
	case strings.HasSuffix(q.Route, "/users/me") && name == "nameless":
		return asktest.JSON(200, `{"id":8,"roles":["editor"],"capabilities":{}}`), nil
	case name == "down":
		return nil, errors.New("the platform is down")
	}
	return asktest.JSON(401, `{"code":"rest_not_logged_in","message":"","data":{"status":401}}`), nil
}

// judged is a request to a site with scopes.
type judged struct {
	method, target, body string
	headers              []string
}

func judge(t *testing.T, j judged, change func(*policy.Request), options ...policy.Option) policy.Decision {
	t.Helper()
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, options...)
	r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, j.method, j.target, j.body, j.headers...)
	if change != nil {
		change(r)
	}
	if r.Call.Kind == call.Page {
		return c.JudgePage(r)
	}
	return c.Judge(t.Context(), r)
}

// status is 0 for a call that passes, and negative for one that would be refused.
func status(d policy.Decision) int {
	if d.Outcome == policy.WouldRefuse {
		return -d.Verdict.Status
	}
	return d.Verdict.Status
}

// TestScope_Keys: a scope binds a key wherever it stands, in both forms of address, in batches, and nobody else.
func TestScope_Keys(t *testing.T) {
	t.Parallel()
	erp := line("scope erp", "key a1b2c3d", "allow GET /wc/v3/orders /wc/v3/orders/*", "allow PUT /wc/v3/orders/*", "\tonly status", "\tstatus = processing,completed")
	const orders, order, batch = "/wp-json/wc/v3/orders", "/wp-json/wc/v3/orders/5", "/wp-json/wc/v3/orders/batch"
	oauth := `Authorization: OAuth oauth_consumer_key="` + key + `", oauth_nonce="x"`
	for name, tt := range map[string]struct {
		judged
		status int
	}{
		"a call of the scope":         {judged{"GET", orders, "", []string{basic(key)}}, 0},
		"another call":                {judged{"GET", "/wp-json/wc/v3/products", "", []string{basic(key)}}, 403},
		"another method":              {judged{"DELETE", order, "", []string{basic(key)}}, 403},
		"a route of the core":         {judged{"GET", "/wp-json/wp/v2/posts", "", []string{basic(key)}}, 403},
		"by rest_route":               {judged{"GET", "/?rest_route=/wc/v3/orders", "", []string{basic(key)}}, 0},
		"another call by rest_route":  {judged{"GET", "/?rest_route=/wc/v3/products", "", []string{basic(key)}}, 403},
		"in the query":                {judged{"GET", "/wp-json/wc/v3/products?consumer_key=" + key + "&consumer_secret=x", "", nil}, 403},
		"in the query, no secret":     {judged{"GET", "/wp-json/wc/v3/products?consumer_key=" + key, "", nil}, 403},
		"in the query of a core call": {judged{"GET", "/wp-json/wp/v2/posts?consumer_key=" + key, "", nil}, 403},
		"in a form":                   {judged{"POST", "/wp-json/wc/v3/products", "consumer_key=" + key, []string{policytest.FormType}}, 403},
		"an OAuth 1 signature":        {judged{"GET", "/wp-json/wc/v3/products", "", []string{oauth}}, 403},
		"one of the scope":            {judged{"GET", orders, "", []string{oauth}}, 0},
		"a signature in the query":    {judged{"GET", "/wp-json/wc/v3/products?oauth_consumer_key=" + key, "", nil}, 403},
		"the tools' header":           {judged{"GET", "/wp-json/wc/v3/products", "", []string{"X-MCP-API-Key: " + key + ":cs_x"}}, 403},
		"at the tools":                {judged{"POST", "/wp-json/woocommerce/mcp", `{}`, []string{"X-MCP-API-Key: " + key + ":cs_x", policytest.JSONType}}, 403},
		"a value that fits":           {judged{"PUT", order, `{"status":"completed"}`, []string{basic(key), policytest.JSONType}}, 0},
		"a value that does not":       {judged{"PUT", order, `{"status":"refunded"}`, []string{basic(key), policytest.JSONType}}, 403},
		"one more parameter":          {judged{"PUT", order, `{"status":"completed","total":"1"}`, []string{basic(key), policytest.JSONType}}, 403},
		"the key beside it":           {judged{"PUT", order + "?consumer_key=" + key + "&consumer_secret=x", `{"status":"completed"}`, []string{policytest.JSONType}}, 0},
		"a batch":                     {judged{"POST", batch, `{"update":[{"id":5,"status":"completed"}]}`, []string{basic(key), policytest.JSONType}}, 403},
		"two spellings of a key":      {judged{"GET", orders + "?consumer_key=" + key + "%20", "", nil}, 400},
		"two keys in the query":       {judged{"GET", orders + "?consumer_key=" + key + "&consumer_key=" + other, "", nil}, 400},
		"another key":                 {judged{"DELETE", order, "", []string{basic(other)}}, 0},
		"two credentials":             {judged{"DELETE", order + "?consumer_key=" + key, "", []string{basic(other)}}, 403},
		"nobody":                      {judged{"DELETE", order, "", nil}, 0},
		"somebody else":               {judged{"DELETE", order, "", []string{basic("maria")}}, 0},
		"a login":                     {judged{"DELETE", order, "", []string{policytest.LoginLine, policytest.NonceLine}}, 0},
		"the older interface":         {judged{"GET", "/wc-api/v3/orders", "", []string{basic(key)}}, 403},
		"by its variables":            {judged{"GET", "/?wc-api-version=3&wc-api-route=/orders&consumer_key=" + key, "", nil}, 403},
		"by another key":              {judged{"GET", "/wc-api/v3/orders", "", []string{basic(other)}}, 0},
		"beside a call":               {judged{"GET", "/?rest_route=/wc/v3/orders&wc-api-version=3&wc-api-route=/orders", "", []string{basic(key)}}, 403},
		"in the path of a call":       {judged{"GET", "/wc-api/v3/orders?rest_route=/wc/v3/orders", "", []string{basic(key)}}, 403},
		"in the form of a call":       {judged{"POST", "/?rest_route=/wc/v3/orders", "wc-api-version=3&wc-api-route=/orders", []string{basic(key), policytest.FormType, policytest.Override + "GET"}}, 403},
		"a payment's notification":    {judged{"POST", "/?wc-api=WC_Gateway_Paypal", "a=b", []string{policytest.FormType}}, 0},
		"xmlrpc.php":                  {judged{"POST", "/xmlrpc.php", "x", nil}, 0},
	} {
		if d := judge(t, tt.judged, nil, erp); status(d) != tt.status || tt.status == 403 && (d.Verdict.Code != policy.CodeCredentialScope || d.Verdict.Rule != "scope erp" || d.Verdict.Pos != "Caddyfile:7") {
			t.Errorf("%s: %d, want %d: %+v", name, status(d), tt.status, d.Verdict)
		}
	}
	batches := line("scope erp", "key a1b2c3d", "allow POST /wc/v3/orders/batch", "allow PUT /wc/v3/orders/*", "\tonly status")
	for body, want := range map[string]int{
		`{"update":[{"id":5,"status":"x"}]}`: 0, `{"update":[{"id":5,"status":"x"},{"id":6,"total":1}]}`: 403, `{"delete":[5]}`: 403,
	} {
		if d := judge(t, judged{"POST", batch, body, []string{basic(key), policytest.JSONType}}, nil, batches); status(d) != want {
			t.Errorf("%s: %+v", body, d.Verdict)
		}
	}
}

// TestScope_Logins: a user and a password are bound by whatever log-in the platform says is theirs.
func TestScope_Logins(t *testing.T) {
	t.Parallel()
	user, password := line("scope u", "user maria", "allow GET /wp/v2/posts"), line("scope p", "password "+strings.ToUpper(uuid), "allow GET /wp/v2/posts")
	cookie := func(name string) string { return "Cookie: wordpress_logged_in_abc=" + url.QueryEscape(name+"|1|x|y") }
	for name, tt := range map[string]struct {
		scope   policy.Option
		target  string
		headers []string
		status  int
	}{
		"a call of the scope":         {user, "/wp-json/wp/v2/posts", []string{basic("maria")}, 0},
		"another call":                {user, "/wp-json/wp/v2/pages", []string{basic("maria")}, 403},
		"in capitals":                 {user, "/wp-json/wp/v2/pages", []string{basic("MARIA")}, 403},
		"by her e-mail":               {user, "/wp-json/wp/v2/pages", []string{basic("maria@example.com")}, 403},
		"by a token":                  {user, "/wp-json/wp/v2/pages", []string{"Authorization: Bearer maria"}, 403},
		"by a cookie":                 {user, "/wp-json/wp/v2/pages", []string{cookie("maria"), policytest.NonceLine}, 403},
		"by a cookie without a nonce": {user, "/wp-json/wp/v2/pages", []string{cookie("maria")}, 403},
		"in the shop":                 {user, "/wp-json/wc/store/v1/cart", []string{cookie("maria")}, 403},
		"a cookie of another":         {user, "/wp-json/wp/v2/pages", []string{cookie("paul"), policytest.NonceLine}, 0},
		"two log-ins":                 {user, "/wp-json/wp/v2/pages", []string{cookie("paul"), policytest.NonceLine, basic("maria@example.com")}, 403},
		"a name that nobody has":      {user, "/wp-json/wp/v2/pages", []string{basic("paul")}, 0},
		"a token of nobody":           {user, "/wp-json/wp/v2/pages", []string{"Authorization: Bearer x"}, 0},
		"a user without a name":       {user, "/wp-json/wp/v2/pages", []string{basic("nameless")}, 503},
		"nobody can say":              {user, "/wp-json/wp/v2/pages", []string{basic("down")}, 503},
		"nobody":                      {user, "/wp-json/wp/v2/pages", nil, 0},
		"a shop key":                  {user, "/wp-json/wc/v3/orders", []string{basic(key)}, 0},
		"a password":                  {password, "/wp-json/wp/v2/posts", []string{basic("maria")}, 0},
		"a password, another call":    {password, "/wp-json/wp/v2/pages", []string{basic("maria@example.com")}, 403},
		"beside a cookie":             {password, "/wp-json/wp/v2/pages", []string{basic("maria"), cookie("paul"), policytest.NonceLine}, 403},
		"a cookie alone":              {password, "/wp-json/wp/v2/pages", []string{cookie("maria"), policytest.NonceLine}, 0},
		"no password":                 {password, "/wp-json/wp/v2/pages", []string{basic("paul")}, 0},
		"nobody can say which":        {password, "/wp-json/wp/v2/pages", []string{basic("down")}, 503},
	} {
		if d := judge(t, judged{"GET", tt.target, "", tt.headers}, nil, tt.scope); status(d) != tt.status {
			t.Errorf("%s: %d, want %d: %+v", name, status(d), tt.status, d)
		}
	}
	passing := line("scope", "on_error pass")
	if d := judge(t, judged{"GET", "/wp-json/wp/v2/pages", "", []string{basic("down")}}, nil, password, passing); status(d) != 503 {
		t.Errorf("a password that nobody can tell, with on_error pass: %+v", d)
	}
}

// TestScope_Others: "*" binds whom no scope names.
func TestScope_Others(t *testing.T) {
	t.Parallel()
	named, others := line("scope erp", "key a1b2c3d", "allow /wc/v3/orders"), line("scope others", "key *", "password *", "user *", "mode observe")
	for name, tt := range map[string]struct {
		header string
		status int
	}{
		"the named one": {basic(key), 0}, "another key": {basic(other), -403}, "a user": {basic("maria"), -403}, "nobody": {"X-A: b", 0},
	} {
		if d := judge(t, judged{"GET", "/wp-json/wc/v3/orders", "", []string{tt.header}}, nil, named, others); status(d) != tt.status {
			t.Errorf("%s: %+v", name, d)
		}
	}
	both := line("scope others", "key aaaaaaa", "mode observe")
	if d := judge(t, judged{"GET", "/wp-json/wc/v3/orders?consumer_key=" + key, "", []string{basic(other)}}, nil, line("scope erp", "key a1b2c3d"), both); status(d) != 403 {
		t.Errorf("what refuses goes before what observes: %+v", d)
	}
}

// TestScope_Bounds: addresses, hours and the last day.
func TestScope_Bounds(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 27, 12, 0, 0, 0, time.Local)
	for name, tt := range map[string]struct {
		bound  string
		client string
		now    time.Time
		note   string
	}{
		"an address":       {"from 198.51.100.0/24", "198.51.100.7", day, ""},
		"another":          {"from 198.51.100.0/24", "192.0.2.1", day, `The condition "from 198.51.100.0/24" does not hold.`},
		"an hour":          {"between 08:00-18:00", "192.0.2.1", day, ""},
		"another hour":     {"between 08:00-11:00", "192.0.2.1", day, `The condition "between 08:00-11:00" does not hold.`},
		"the last day":     {"until 2026-11-27", "192.0.2.1", day.Add(12*time.Hour - time.Second), ""},
		"the day after it": {"until 2026-11-27", "192.0.2.1", day.Add(12 * time.Hour), "Its last day was 2026-11-27."},
	} {
		d := judge(t, judged{"GET", "/wp-json/wc/v3/orders", "", []string{basic(key)}}, func(r *policy.Request) {
			r.Client = netip.MustParseAddr(tt.client)
			r.Whole.Site.Now = func() time.Time { return tt.now }
		}, line("scope erp", "key a1b2c3d", "allow /wc/v3/**", tt.bound))
		if d.Verdict.Note != tt.note || d.Verdict.Refused() != (tt.note != "") {
			t.Errorf("%s: %+v", name, d.Verdict)
		}
	}
}

// TestScope_XMLRPC: the messages of xmlrpc.php are closed where a password or a user has a scope.
func TestScope_XMLRPC(t *testing.T) {
	t.Parallel()
	user := line("scope u", "user maria", "allow GET /wp/v2/posts")
	for target, want := range map[string]int{
		"/xmlrpc.php": 403, "/blog/xmlrpc.php": 403, "/XMLRPC.php": 403, "/xmlrpc%2Ephp": 403, "/xmlrpc.php?rest_route=/wp/v2/posts": 403, "/xmlrpc": 0, "/": 0,
	} {
		if d := judge(t, judged{"POST", target, "x", []string{"Content-Type: text/xml"}}, nil, user); status(d) != want {
			t.Errorf("%s: %+v", target, d)
		}
	}
	rewritten := func(r *policy.Request) { r.ClientURL = &url.URL{Path: "/xmlrpc.php"} }
	if d := judge(t, judged{"POST", "/rpc", "x", nil}, rewritten, user); status(d) != 403 {
		t.Errorf("before a rewrite: %+v", d)
	}
	if d := judge(t, judged{http.MethodGet, "/xmlrpc.php", "", nil}, nil, user); status(d) != 0 {
		t.Errorf("GET: %+v", d)
	}
	if d := judge(t, judged{"POST", "/xmlrpc.php?rest_route=/wp/v2/posts", "x", []string{basic("down")}}, nil, user); status(d) != 403 {
		t.Errorf("the platform was asked who sends it: %+v", d)
	}
	for _, open := range []policy.Option{line("scope u", "user maria", "other_doors open"), line("scope k", "key *")} {
		if d := judge(t, judged{"POST", "/xmlrpc.php", "x", nil}, nil, open); status(d) != 0 {
			t.Errorf("open: %+v", d)
		}
	}
}

// TestScope_Uncertain: a request without a certain reading is refused where it carries a credential, also while the
// policy call only observes.
func TestScope_Uncertain(t *testing.T) {
	t.Parallel()
	s, p := policytest.NewSite(t), new(scope.Scopes)
	policytest.Configure(t, p, line("scope erp", "key a1b2c3d", "allow /**"))
	policytest.Provision(t, s, p)
	for header, refused := range map[string]bool{basic(key): true, "X-A: b": false, "Authorization: Bearer x": true} {
		for _, target := range []string{"/wp-json/wp/v2/posts?rest_route=/x", "/wp-json/wp/v2/posts"} {
			_, err := p.CheckReading(policytest.Request(t, s, &asktest.Platform{Answer: platform}, http.MethodGet, target, "", header))
			if (err != nil) != (refused && strings.Contains(target, "rest_route")) {
				t.Errorf("%s, %s: %v", target, header, err)
			}
		}
	}
}

// TestScope_Rules: a rule that names a scope admits who is verified, and no scope that observes or has ended.
func TestScope_Rules(t *testing.T) {
	t.Parallel()
	rule := policytest.Line("allow scope agent,erp /x/**")
	agent, mary := line("scope agent", "password "+uuid, "allow /x/**"), line("scope erp", "user maria", "allow /x/**")
	for name, tt := range map[string]struct {
		scopes []policy.Option
		header string
		status int
	}{
		"a password":       {[]policy.Option{agent, line("scope erp", "key *")}, basic("maria"), 0},
		"by an e-mail":     {[]policy.Option{agent, line("scope erp", "key *")}, basic("maria@example.com"), 0},
		"a user":           {[]policy.Option{line("scope agent", "key *"), mary}, basic("maria"), 0},
		"two log-ins":      {[]policy.Option{agent, line("scope erp", "key *")}, basic("maria") + "\nCookie: wordpress_logged_in_abc=paul%7C1%7Cx%7Cy", 403},
		"a claimed cookie": {[]policy.Option{line("scope agent", "key *"), mary}, "Cookie: wordpress_logged_in_abc=maria%7C1%7Cx%7Cy", 403},
		"somebody else":    {[]policy.Option{agent, mary}, basic("paul"), 403},
		"nobody":           {[]policy.Option{agent, mary}, "X-A: b", 403},
		"nobody can say":   {[]policy.Option{agent, mary}, basic("down"), 503},
		"one that looks":   {[]policy.Option{line("scope agent", "password "+uuid, "allow /x/**", "mode observe"), line("scope erp", "key *")}, basic("maria"), 403},
		"one that ended":   {[]policy.Option{line("scope agent", "password "+uuid, "allow /x/**", "until 2020-01-01"), line("scope erp", "key *")}, basic("maria"), 403},
		"all look":         {[]policy.Option{agent, line("scope erp", "key *"), line("scope", "mode observe")}, basic("maria"), 403},
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, scope.Entry}, append(tt.scopes, rule)...)
		r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, http.MethodGet, "/wp-json/x/y", "", strings.Split(tt.header, "\n")...)
		if d := c.Judge(t.Context(), r); status(d) != tt.status {
			t.Errorf("%s: %+v", name, d)
		}
	}
	missing := new(access.Access)
	policytest.Configure(t, missing, rule)
	if err := policytest.ProvisionError(policytest.NewSite(t), missing); err == nil || !strings.Contains(err.Error(), `there is no scope "agent"`) {
		t.Error(err)
	}
}

// TestScope_Prove: for a caller whom no scope names, what "*" binds counts.
func TestScope_Prove(t *testing.T) {
	t.Parallel()
	c := policytest.Guarded(t, policytest.NewSite(t), []policy.Entry{scope.Entry},
		line("scope erp", "key a1b2c3d", "allow GET /wc/v3/orders"),
		line("scope others", "key *", "allow GET /wc/v3/orders/*", "allow POST /wc/mcp", "allow PUT /wc/v3/orders/*", "\tonly status"),
		line("scope staff", "user *", "allow GET /wp/v2/**", "until 2999-01-01"))
	for _, tt := range []struct {
		never   bool
		kind    caller.Kind
		method  string
		route   string
		holds   bool
		unknown bool
	}{
		{false, caller.KeyHolder, "GET", "/wc/v3/orders/*", true, false},
		{true, caller.KeyHolder, "GET", "/wc/v3/orders/*", false, false},
		{true, caller.KeyHolder, "GET", "/wc/v3/orders", true, false},
		{true, caller.KeyHolder, "DELETE", "/wc/v3/**", true, false},
		{true, caller.KeyHolder, "PUT", "/wc/v3/orders/*", false, true},
		{false, caller.KeyHolder, "PUT", "/wc/v3/orders/*", false, true},
		{true, caller.User, "POST", "/wp/v2/posts", true, false},
		{true, caller.User, "GET", "/wp/v2/posts", false, true},
		{false, caller.Anonymous, "POST", "/wp/v2/posts", true, false},
		{true, caller.KeyHolder, "POST", "/wc/mcp", false, false},
		{false, caller.KeyHolder, "POST", "/wc/mcp", false, true},    // by its message
		{true, caller.KeyHolder, "GET", "/wp/v2/posts", true, false}, // where the platform takes no key it binds as well
	} {
		p, err := review.Prove(c, review.Claim{Never: tt.never, Methods: []string{tt.method}, Routes: []string{tt.route}, Caller: caller.Caller{Kind: tt.kind}})
		if err != nil || p.Holds != tt.holds || tt.unknown != (len(p.Unproved) > 0) || !tt.holds != (len(p.Unproved)+len(p.Counter) > 0) {
			t.Errorf("%+v: %+v, %v", tt, p, err)
		}
	}
}

// TestScope_XML: oEmbed answers in XML what is asked for with _embed; the platform embeds nothing there.
func TestScope_XML(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	p := new(scope.Scopes)
	policytest.Configure(t, p, line("scope erp", "key a1b2c3d", "allow GET /oembed/1.0/embed"))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, http.MethodGet, "/wp-json/oembed/1.0/embed?url=http://example.com/&format=xml&_embed", "", basic(key))
	const text = `<?xml version="1.0"?><oembed></oembed>`
	for kind, sent := range map[string]bool{"text/xml; charset=UTF-8": true, "application/json": false} {
		answer := asktest.JSON(200, text)
		answer.Header.Set("Content-Type", kind)
		if err := p.Rewrite(r, answer); (err == nil) != sent || string(answer.Body) != text {
			t.Errorf("%s: %s, %v", kind, answer.Body, err)
		}
	}
}

// TestScope_Answers: fields are hidden in records, lists, envelopes and embedded objects, and an embedded object from
// a call that the scope does not allow is none of its own.
func TestScope_Answers(t *testing.T) {
	t.Parallel()
	erp := []string{"scope erp", "key a1b2c3d", "allow GET /wc/v3/orders /wc/v3/orders/*", "hide /wc/v3/orders/** billing.email"}
	const links = `"_links":{"up":[{"embeddable":true,"href":"http://example.com/wp-json/wc/v3/orders/6"}],"x":[{"embeddable":true,"href":"http://example.com/wp-json/wc/v3/customers/1"}]}`
	for name, tt := range map[string]struct{ target, body, want, mode string }{
		"a record":           {"/wp-json/wc/v3/orders/5", `{"billing":{"email":"a"}}`, `{"billing":{"email":"[redacted]"}}`, ""},
		"a list":             {"/wp-json/wc/v3/orders", `[{"billing":{"email":"a","x":1}}]`, `[{"billing":{"email":"[redacted]","x":1}}]`, ""},
		"an envelope":        {"/wp-json/wc/v3/orders?_envelope", `{"body":[{"billing":{"email":"a"}}],"status":200}`, `{"body":[{"billing":{"email":"[redacted]"}}],"status":200}`, ""},
		"nothing to hide":    {"/wp-json/wc/v3/orders/5", `{"billing":{"x":"\\/\u00e9"}}`, `{"billing":{"x":"\\/\u00e9"}}`, ""},
		"an error":           {"/wp-json/wc/v3/orders/5", `not JSON`, `not JSON`, ""},
		"embedded":           {"/wp-json/wc/v3/orders/5?_embed", `{` + links + `,"_embedded":{"up":[{"billing":{"email":"a"}}],"x":[{"id":1}]}}`, `{` + links + `,"_embedded":{"up":[{"billing":{"email":"[redacted]"}}],"x":[{"code":"rest_forbidden","message":"Sorry, you are not allowed to do that.","data":{"status":401}}]}}`, ""},
		"a scope that looks": {"/wp-json/wc/v3/orders/5", "", "", "mode observe"},
	} {
		lines := erp
		if tt.mode != "" {
			lines = append(slices.Clip(lines), tt.mode)
		}
		s := policytest.NewSite(t)
		p := new(scope.Scopes)
		policytest.Configure(t, p, line(lines[0], lines[1:]...))
		policytest.Provision(t, s, p)
		r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, http.MethodGet, tt.target, "", basic(key))
		if v, err := p.Check(t.Context(), r); v.Refused() || err != nil {
			t.Fatalf("%s: %+v, %v", name, v, err)
		}
		if rewrites := p.Rewrites(r) == policy.RewriteBody; rewrites != (tt.mode == "") {
			t.Errorf("%s: rewrites %v", name, rewrites)
		}
		if tt.mode != "" {
			continue
		}
		answer := asktest.JSON(200, tt.body)
		if tt.body == "not JSON" {
			answer.Status = 500
		}
		if err := p.Rewrite(r, answer); err != nil || string(answer.Body) != tt.want {
			t.Errorf("%s: %s, %v", name, answer.Body, err)
		}
		if tt.body == "not JSON" {
			answer.Status = 200
			if p.Rewrite(r, answer) == nil {
				t.Error("an answer that is no JSON is sent")
			}
		}
	}
}

// TestScope_Configure: what makes no scope is told with its line.
func TestScope_Configure(t *testing.T) {
	t.Parallel()
	for want, block := range map[string][]string{
		"scope x needs a block":                       nil,
		"it names no key, no password and no user":    {"allow /a"},
		"a key is named by its last seven characters": {"key a1b2c3"},
		"a password is named by its uuid":             {"password 0c8f"},
		"unknown option, did you mean user?":          {"usr maria"},
		"key a1b2c3d: already specified":              {"key a1b2c3d", "key a1b2c3d"},
		"until 2027-13-01: not a day":                 {"key *", "until 2027-13-01"},
		"from 203.0.113.9: the mask is missing":       {"key *", "from 203.0.113.9"},
		"did you mean observe?":                       {"key *", "mode observ"},
		"other_doors is about xmlrpc.php":             {"key *", "other_doors open"},
		"a scope is for its own credentials":          {"key *", "allow users /a"},
		"no field named":                              {"key *", "hide /a"},
		"is neither a method":                         {"key *", "allow get /a"},
		"only is about calls that write":              {"key *", "allow GET /a", "\tonly b"},
		"between 8-18: the hours are written as":      {"key *", "between 8-18"},
	} {
		err := new(scope.Scopes).Configure(line("scope x", block...))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "at Caddyfile:7") {
			t.Errorf("%q: %v, want %s", block, err, want)
		}
	}
	for _, name := range []string{"Erp", "a b", "off", "é"} {
		if new(scope.Scopes).Configure(policy.Option{Name: "scope", Args: []string{name}, Block: []policy.Option{policytest.Line("key *")}}) == nil {
			t.Error(name, "is a name")
		}
	}
	p := new(scope.Scopes)
	policytest.Configure(t, p, line("scope x", "key *"))
	if p.Configure(line("scope x", "key a1b2c3d")) == nil {
		t.Error("two scopes of one name")
	}
}
