package scope_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/scope"
)

// TestScope_Spellings: the platform cleans a login name before it looks for it, so that a name which the shop could
// take for a key may be a login as well.
func TestScope_Spellings(t *testing.T) {
	t.Parallel()
	user, password := line("scope u", "user maria"), line("scope p", "password "+uuid)
	for _, name := range []string{
		"maria", "Maria", " maria ", "maria\x00", "maria@example.com", "ck_maria@example.com",
		"<_>maria", "<b title='_'>maria", "%41<_>maria", "c<_>%41", "nobody", "ck_%41nobody",
	} {
		want := 403
		if !strings.Contains(cleaned(name), "maria") {
			want = 0
		}
		for _, s := range []policy.Option{user, password} {
			if d := judge(t, judged{"GET", "/wp-json/wp/v2/pages", "", []string{basic(name)}}, nil, s); status(d) != want {
				t.Errorf("%q, %s: %d, want %d", name, s.Args[0], status(d), want)
			}
		}
	}
}

// TestScope_Cookies: a login cookie says its name in several encodings.
func TestScope_Cookies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		user, cookie string
		status       int
	}{
		{"maria", "wordpress_logged_in_abc=maria|1|x|y", 403},
		{"maria", "wordpress_logged_in_abc=%6d%61ria%7c1%7Cx|y", 403},
		{"maria", "wordpress_abc=maria|1|x|y", 403},
		{"maria", "wordpress_sec_abc=maria|1|x|y", 403},
		{"maria", "wordpress_test_cookie=maria|1|x|y", 0},
		{"maria", "wordpress_logged_in_abc=paul|1|x|y;wordpress_abc=maria|1|x|y", 403},
		{"maria", "wordpress_logged_in_abc=maria", 0},
		{"*", "wordpress_gdpr_cookies_allowed=necessary", 0},
		{"*", "wordpress_logged_in_abc=paul|1|x|y", 403},
		{"maria", "other=maria|1|x|y", 0},
		{`"anna maria"`, "wordpress_logged_in_abc=anna+maria|1|x|y", 403},
		{`"anna maria"`, "wordpress_logged_in_abc=anna%20maria|1|x|y", 403},
		{"anna+maria", "wordpress_logged_in_abc=anna%2bmaria|1|x|y", 403},
		{"anna+maria", "wordpress_logged_in_abc=anna+maria|1|x|y", 403}, // PHP leaves the sign as it is
		{"cs_team", "wordpress_logged_in_abc=cs_team|1|x|y", 403},
	} {
		s := line("scope u", "user x")
		s.Block[0].Args = []string{strings.Trim(tt.user, `"`)}
		if d := judge(t, judged{"GET", "/wp-json/wp/v2/pages", "", []string{"Cookie: " + tt.cookie}}, nil, s); status(d) != tt.status {
			t.Errorf("%s, %s: %d, want %d", tt.user, tt.cookie, status(d), tt.status)
		}
	}
}

// TestScope_Pages: on pages a scoped key is refused wherever the shop takes it, and nothing else is.
func TestScope_Pages(t *testing.T) {
	t.Parallel()
	erp := line("scope erp", "key a1b2c3d", "allow /**")
	encoded := base64.StdEncoding.EncodeToString([]byte(key + ":cs_secret"))
	form := "oauth_nonce=x&oauth_consumer_key=" + key
	for name, tt := range map[string]struct {
		judged
		status int
	}{
		"Basic":                     {judged{"GET", "/wc-api/v3/orders", "", []string{basic(key)}}, 403},
		"in small letters":          {judged{"GET", "/wc-api/v3/orders", "", []string{"Authorization: basic " + encoded}}, 403},
		"in two lines":              {judged{"GET", "/wc-api/v3/orders", "", []string{"Authorization: Basic " + encoded[:4], "Authorization: " + encoded[4:]}}, 403},
		"a signature in two lines":  {judged{"GET", "/wc-api/v3/orders", "", []string{`Authorization: OAuth oauth_nonce="x"`, `Authorization: oauth_consumer_key="` + key + `"`}}, 403},
		"with odd characters":       {judged{"GET", "/wc-api/v3/orders", "", []string{"Authorization: Basic " + encoded[:4] + "-=,\t " + encoded[4:]}}, 403},
		"query":                     {judged{"GET", "/?wc-api-version=3&consumer.key=" + key, "", nil}, 403},
		"encoded":                   {judged{"GET", "/?c%6fnsumer%5fkey=" + key, "", nil}, 403},
		"a signature in a form":     {judged{"POST", "/wp-admin/admin-ajax.php?x=wp-json/wc/", form, []string{policytest.FormType}}, 403},
		"of another key":            {judged{"POST", "/wp-admin/admin-ajax.php", "oauth_consumer_key=" + other, []string{policytest.FormType}}, 0},
		"a form":                    {judged{"POST", "/wp-login.php", "log=a&pwd=b", []string{policytest.FormType}}, 0},
		"an upload":                 {judged{"POST", "/wp-admin/async-upload.php", "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n", []string{"Content-Type: multipart/form-data; boundary=b"}}, 0},
		"a staging site":            {judged{"GET", "/", "", []string{basic("client")}}, 0},
		"odd names":                 {judged{"GET", "/", "", []string{basic("a%b<c")}}, 0},
		"a notification":            {judged{"POST", "/?wc-api=WC_Gateway_Paypal", "txn_id=1&ipn_track_id=2", []string{policytest.FormType}}, 0},
		"a notification, as JSON":   {judged{"POST", "/wc-api/wc_stripe/", `{"id":"evt"}`, []string{policytest.JSONType, "Authorization: Bearer x"}}, 0},
		"a notification of two log": {judged{"POST", "/wc-api/x/", "a=b", []string{policytest.FormType, basic("hook")}}, 0},
		"ajax":                      {judged{"POST", "/?wc-ajax=checkout", "billing_email=a", []string{policytest.FormType, policytest.LoginLine}}, 0},
		"cron":                      {judged{"POST", "/wp-cron.php?doing_wp_cron=1", "", nil}, 0},
	} {
		if d := judge(t, tt.judged, nil, erp); status(d) != tt.status {
			t.Errorf("%s: %d, want %d", name, status(d), tt.status)
		}
	}
}

// TestScope_UncertainDoors: what has no certain reading is no way to another door, also while the policy call only
// observes.
func TestScope_UncertainDoors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scope          policy.Option
		method, target string
		body, header   string
		refused        bool
	}{
		{line("scope u", "user maria"), "POST", "/xmlrpc.php?rest_route=/wp/v2/posts&rest_route=/x", "<methodCall/>", "Content-Type: text/xml", true},
		{line("scope u", "user maria"), "POST", "/wp-json/wp/v2/posts?rest_route=/x", "a=b", policytest.FormType, false},
		{line("scope u", "user maria"), "GET", "/xmlrpc.php?rest_route=/wp/v2/posts&rest_route=/x", "", "X-A: b", false},
		{line("scope u", "user maria"), "POST", "/xmlrpc.php/wp-json/wp/v2/posts?rest_route=/x", "<methodCall/>", "Content-Type: text/xml", true},
		{line("scope erp", "key a1b2c3d"), "POST", "/wp-json/wc/v3/orders?rest_route=/x", "oauth_consumer_key=" + key, policytest.FormType, true},
		{line("scope erp", "key a1b2c3d"), "POST", "/wp-json/wc/v3/orders?rest_route=/x", "a=b", policytest.FormType, false},
		{line("scope erp", "key a1b2c3d"), "GET", "/wp-json/wc/v3/orders?rest_route=/x&consumer_key=" + key, "", "X-A: b", true},
		{line("scope erp", "key a1b2c3d"), "GET", "/wp-json/wc/v3/orders?consumer_gclid=x&key=" + key, "", "X-A: b", true},
		{line("scope erp", "key a1b2c3d"), "GET", "/x%26consumer_key=" + key + "?rest_route=/wc/v3/orders", "", "X-A: b", true},
		{line("scope erp", "key a1b2c3d"), "GET", "/x%26consumer=" + key + "?rest_route=/wc/v3/orders", "", "X-A: b", false},
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, tt.scope, line("call", "mode observe"))
		r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, tt.method, tt.target, tt.body, tt.header)
		if r.Call.Kind == call.Page {
			t.Fatalf("%s: a page", tt.target)
		}
		if d := c.Judge(t.Context(), r); (d.Outcome == policy.Refuse) != tt.refused {
			t.Errorf("%s %s: %+v", tt.method, tt.target, d)
		}
	}
}

// TestScope_ObserveUndecided: scopes that only observe refuse nothing either where something cannot be known.
func TestScope_ObserveUndecided(t *testing.T) {
	t.Parallel()
	watch, enforced := line("scope w", "key *", "user *", "password *", "allow /**", "mode observe"), line("scope u", "user paul", "allow /**")
	keys := line("scope erp", "key a1b2c3d", "allow /**")
	twice := judged{"GET", "/wp-json/wc/v3/orders?consumer_key=" + key + "&consumer_key=" + other, "", nil}
	down := judged{"GET", "/wp-json/wp/v2/posts", "", []string{basic("down")}}
	unread := judged{"GET", "/wp-json/wp/v2/posts?rest_route=/x", "", []string{basic("maria")}}
	values := line("scope w", "key *", "allow /**", "\tstatus = a", "mode observe")
	bent := judged{"PUT", "/wp-json/wc/v3/orders/5", "{", []string{basic(key), policytest.JSONType}}
	quiet := line("call", "mode observe")
	for name, tt := range map[string]struct {
		judged
		options []policy.Option
		status  int
	}{
		"two keys":                    {twice, []policy.Option{watch}, -400},
		"two keys, beside a user":     {twice, []policy.Option{watch, enforced}, -400},
		"two keys, beside a key":      {twice, []policy.Option{watch, keys}, 400},
		"nobody can say":              {down, []policy.Option{watch}, -503},
		"nobody can say, beside one":  {down, []policy.Option{watch, enforced}, 503},
		"nobody can say, beside keys": {down, []policy.Option{watch, keys}, -503},
		"no reading":                  {unread, []policy.Option{watch, quiet}, -400},
		"no reading, beside one":      {unread, []policy.Option{watch, enforced, quiet}, 400},
		"no values":                   {bent, []policy.Option{values}, -400},
	} {
		if d := judge(t, tt.judged, nil, tt.options...); status(d) != tt.status {
			t.Errorf("%s: %d, want %d: %+v", name, status(d), tt.status, d)
		}
	}
}

// TestScope_OlderOfUser: the shop's older interface is closed to the keys of a scope, and not to its users.
func TestScope_OlderOfUser(t *testing.T) {
	t.Parallel()
	both := line("scope both", "key a1b2c3d", "user paul", "allow GET /wc/v3/orders")
	const target, paul = "/wc-api/v3/orders?rest_route=/wc/v3/orders", "Cookie: wordpress_logged_in_x=paul%7C1%7Ca%7Cb"
	for header, want := range map[string]int{paul: 0, basic(key): 403} {
		if d := judge(t, judged{"GET", target, "", []string{header}}, nil, both); status(d) != want {
			t.Errorf("%s: %d, want %d", header, status(d), want)
		}
	}
}
