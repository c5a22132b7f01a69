package suggest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/policies/call"
)

// seen are records of one call: "METHOD route", from where, by clients from the first to the
// last number.
type seen struct {
	call, from  string
	first, last int
	edit        func(*records.Record)
}

const site = "shop.example.com"

// recordsOf makes the records, each client calling twice.
func recordsOf(all ...seen) (list []records.Record) {
	for i, s := range all {
		method, route, _ := strings.Cut(s.call, " ")
		for client := s.first; client <= s.last; client++ {
			for again := range 2 {
				rec := records.Record{
					Version: 1, RequestID: "r", Site: site, Host: site, Policy: "access", Code: "rest_not_logged_in", Outcome: "would_refuse",
					Rule: "login_only", At: "Caddyfile:4", From: s.from, Method: method, Form: "pretty", Route: route,
					Remedy: "allow anyone " + strings.Replace(method, "HEAD", "GET", 1) + " " + route, ClientIP: fmt.Sprintf("203.0.113.%d", client), Caller: "anonymous",
					Time: json.RawMessage(fmt.Sprint(1767225600 + 3600*i + again)),
				}
				if !strings.HasPrefix(route, "/") || strings.ContainsAny(route, "[(") {
					rec.Remedy = ""
				}
				if s.edit != nil {
					s.edit(&rec)
				}
				list = append(list, rec)
			}
		}
	}
	return list
}

func reportOf(t *testing.T, o suggest.Options, list []records.Record) *suggest.Report {
	t.Helper()
	if o.Platform.Name == "" {
		o.Platform, _ = call.PlatformByName("wordpress")
	}
	c, err := suggest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range []func(*records.Record) error{c.Learn, c.Add} {
		for i := range list {
			if err := take(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c.Report()
}

func linesOf(r *suggest.Report) (lines []string) {
	for _, s := range r.Sites {
		for _, l := range s.Lines {
			lines = append(lines, l.Line)
		}
	}
	return lines
}

func rule(name, at string) func(*records.Record) {
	return func(rec *records.Record) { rec.Rule, rec.At, rec.Remedy = name, at, "" }
}

func user(name string) func(*records.Record) {
	return func(rec *records.Record) {
		rec.Rule, rec.At, rec.Caller, rec.Code = name, "Caddyfile:9", "user", "rest_forbidden"
		rec.Remedy = "allow users " + rec.Method + " " + rec.Route
	}
}

const feedback = "POST /contact-form-7/v1/contact-forms/:id/feedback"

// decisions are calls with what becomes of them: a line, or a reason.
var decisions = map[string]struct {
	seen []seen
	line string
	left suggest.Reason
}{
	"a form":                         {[]seen{{feedback, "page", 1, 3, nil}}, "allow plugin contact-form-7", ""},
	"a form, few":                    {[]seen{{feedback, "page", 1, 2, nil}}, "", suggest.ReasonFew},
	"a form, no browser":             {[]seen{{feedback, "none", 1, 3, nil}}, "allow plugin contact-form-7", ""},
	"a provider, one address":        {[]seen{{"POST /wc-stripe/v1/webhook", "none", 1, 1, nil}}, "allow plugin woo-stripe-payment for payments", ""},
	"an app":                         {[]seen{{"POST /jwt-auth/v1/token/validate", "none", 1, 3, nil}}, "", suggest.ReasonApps},
	"a set-up":                       {[]seen{{"GET /pinterest/v1/oauth/callback", "none", 1, 9, nil}}, "", suggest.ReasonSetup},
	"a page's own call":              {[]seen{{"POST /acme/v1/votes/:id", "page", 1, 3, nil}}, "allow anyone POST /acme/v1/votes/:id", ""},
	"HEAD":                           {[]seen{{"HEAD /acme/v1/votes", "page", 1, 3, nil}}, "allow anyone GET /acme/v1/votes", ""},
	"two methods":                    {[]seen{{"POST /acme/v1/a", "page", 1, 3, nil}, {"GET /acme/v1/a", "page", 1, 3, nil}}, "allow anyone GET,POST /acme/v1/a", ""},
	"a write of nobody's":            {[]seen{{"POST /acme/v1/votes/:id", "none", 1, 9, nil}}, "", suggest.ReasonNoPage},
	"a write of another site's":      {[]seen{{"POST /acme/v1/votes/:id", "other", 1, 9, nil}}, "", suggest.ReasonNoPage},
	"a write, few by a page":         {[]seen{{"POST /acme/v1/x", "none", 1, 9, nil}, {"POST /acme/v1/x", "page", 1, 1, nil}}, "", suggest.ReasonFew},
	"a plugin's read":                {[]seen{{"GET /acme/v1/votes", "none", 1, 3, nil}}, "allow anyone GET /acme/v1/votes", ""},
	"a read of the core's by a page": {[]seen{{"GET /wp/v2/posts/:id", "page", 1, 3, nil}}, "allow anyone GET /wp/v2/posts/:id", ""},
	"a read of the core's":           {[]seen{{"GET /wp/v2/posts", "none", 1, 9, nil}}, "", suggest.ReasonNoPage},
	"the root":                       {[]seen{{"GET /", "page", 1, 9, nil}}, "", suggest.ReasonIndex},
	"an index":                       {[]seen{{"GET /wp/v2", "page", 1, 9, nil}}, "", suggest.ReasonIndex},
	"an index of nobody's":           {[]seen{{"GET /acme/v1", "page", 1, 9, nil}}, "", suggest.ReasonIndex},
	"orders":                         {[]seen{{"GET /wc/v3/orders", "page", 1, 9, nil}}, "", suggest.ReasonShop},
	"users":                          {[]seen{{"GET /wp/v2/users", "page", 1, 9, rule("built-in: allow users /wp/v2/users", "")}}, "", suggest.ReasonGuarded},
	"users without built-in rules":   {[]seen{{"GET /wp/v2/users/:id", "page", 1, 9, nil}}, "", suggest.ReasonGuarded},
	"a line deny plugin":             {[]seen{{"GET /wp/v2/search", "page", 1, 9, rule("plugin wordpress", "Caddyfile:5")}}, "", suggest.ReasonGuarded},
	"a known hole":                   {[]seen{{"POST /sure-triggers/v1/automation/action", "page", 1, 9, nil}}, "", suggest.ReasonHole},
	"a hole that a plugin needs":     {[]seen{{"GET /lp/v1/courses/archive-course", "page", 1, 9, nil}}, "", suggest.ReasonHole},
	"a parameter may meet a guard":   {[]seen{{"GET /own/v1/:form", "none", 1, 3, nil}}, "allow anyone GET /own/v1/:form", ""},
	"a parameter may be one":         {[]seen{{"POST /own/:form", "page", 1, 3, nil}}, "allow anyone POST /own/:form", ""},
	"all of a guard":                 {[]seen{{"GET /own/:x/troubleshooting", "page", 1, 3, nil}}, "", suggest.ReasonGuarded},
	"risky":                          {[]seen{{"GET /wp/v2/search", "page", 1, 9, nil}}, "", suggest.ReasonRisky},
	"risky below what is needed":     {[]seen{{"POST /wplp-react-gdpr/v1/import-settings", "none", 1, 9, nil}}, "", suggest.ReasonRisky},
	"an own rule":                    {[]seen{{"GET /acme/v1/x", "page", 1, 9, rule("deny /acme/**", "Caddyfile:5")}}, "", suggest.ReasonOwn},
	"unknown":                        {[]seen{{"GET unknown", "page", 1, 9, nil}}, "", suggest.ReasonUnknown},
	"no index":                       {[]seen{{"POST contact-form-7/v1", "page", 1, 9, nil}}, "", suggest.ReasonUnindexed},
	"another method":                 {[]seen{{"other /acme/v1/x", "page", 1, 9, nil}}, "", suggest.ReasonNoLine},
	"a shop key":                     {[]seen{{"GET /acme/v1/x", "page", 1, 9, func(r *records.Record) { r.Remedy = "" }}}, "", suggest.ReasonNoLine},
	"another remedy":                 {[]seen{{"GET /acme/v1/x", "page", 1, 9, func(r *records.Record) { r.Remedy = "allow anyone /**" }}}, "", suggest.ReasonNoLine},
	"several forms":                  {[]seen{{"GET /acme/v1/x[/:id]", "page", 1, 9, nil}}, "", suggest.ReasonForms},
	"several forms, all needed":      {[]seen{{"POST /gdpr/v2/acme[/:id]", "none", 1, 3, nil}}, "allow plugin gdpr-cookie-consent\ndeny plugin gdpr-cookie-consent", ""},
	"several forms, one of a hole":   {[]seen{{"POST /wplp-react-gdpr/v1/(acme|upload-logo)", "none", 1, 9, nil}}, "", suggest.ReasonGuarded},
	"a route that no rule can name":  {[]seen{{"GET /x/v1/12", "page", 1, 9, nil}}, "", suggest.ReasonNoLine},
	"a route with a space":           {[]seen{{"GET /x/v1/a b", "page", 1, 9, nil}}, "", suggest.ReasonNoLine},
	"no addresses":                   {[]seen{{"GET /acme/v1/x", "page", 1, 9, func(r *records.Record) { r.ClientIP = "" }}}, "", suggest.ReasonNoAddress},
	"one network":                    {[]seen{{"GET /acme/v1/x", "page", 1, 9, func(r *records.Record) { r.ClientIP = "2001:db8::" + r.ClientIP[10:] }}}, "", suggest.ReasonFew},
	"another policy":                 {[]seen{{"PUT /wc/v3/orders/:id", "none", 1, 9, func(r *records.Record) { r.Policy, r.Rule = "order_type", "order_type" }}}, "", suggest.ReasonPolicy},
	"a wrong password":               {[]seen{{"GET /acme/v1/x", "none", 1, 9, func(r *records.Record) { r.Code = "platform" }}}, "", suggest.ReasonPlatform},
	"no reading":                     {[]seen{{"GET unknown", "none", 1, 9, func(r *records.Record) { r.Form, r.Policy = "", "call" }}}, "", suggest.ReasonUnread},
	"users of a role":                {[]seen{{"GET /acme/v1/x", "page", 1, 3, user("allow role editor /acme/**")}}, "", suggest.ReasonOwn},
	"users of a role, few":           {[]seen{{"GET /acme/v1/x", "page", 1, 2, user("allow role editor /acme/**")}}, "", suggest.ReasonOwn},
	"users whom a line denies":       {[]seen{{"GET /acme/v1/x", "page", 1, 9, user("deny /acme/**")}}, "", suggest.ReasonOwn},
}

// TestForgedPage: a client who says that pages of the site call opens no route of the core, of
// the shop or of a plugin that the catalogue knows. For the most private ones there is not even
// a line in the comment.
func TestForgedPage(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]struct {
		reason suggest.Reason
		named  bool
	}{
		"POST /wp/v2/users": {suggest.ReasonGuarded, false},
		"POST /wp/v2/users/:user_id/application-passwords": {suggest.ReasonCore, false},
		"GET /wp/v2/users/me":                              {suggest.ReasonRisky, false},
		"GET /wp/v2/settings":                              {suggest.ReasonCore, false},
		"POST /wp/v2/settings":                             {suggest.ReasonCore, false},
		"PUT /wp/v2/plugins/:plugin":                       {suggest.ReasonCore, false},
		"GET /wp/v2/themes":                                {suggest.ReasonCore, false},
		"DELETE /wp/v2/templates/:id":                      {suggest.ReasonCore, false},
		"POST /wp/v2/:base":                                {suggest.ReasonCore, false},
		"GET /wp-site-health/v1/tests/:test":               {suggest.ReasonCore, false},
		"POST /wp-abilities/v1/abilities/:name/run":        {suggest.ReasonCore, false},
		"GET /oembed/1.0/proxy":                            {suggest.ReasonCore, false},
		"POST /wp/v2/posts/:id":                            {suggest.ReasonCore, true},
		"POST /wp/v2/media":                                {suggest.ReasonCore, true},
		"GET /wp/v2/posts/:parent/revisions":               {suggest.ReasonCore, true},
		"GET /wp/v2/comments/:id":                          {suggest.ReasonCore, true},
		"PUT /wc-admin/v1/features":                        {suggest.ReasonShop, false},
		"GET /wc-analytics/reports/revenue/stats":          {suggest.ReasonShop, false},
		"POST /wc/private/patterns":                        {suggest.ReasonShop, false},
		"DELETE /wc/v3/customers/:id":                      {suggest.ReasonShop, false},
		"GET /complianz/v1/datarequests":                   {suggest.ReasonNotNeeded, true},
		"DELETE /jetpack/v4/connection":                    {suggest.ReasonNotNeeded, true},
		"GET /gdpr/v2/:x":                                  {suggest.ReasonNotNeeded, true},
		"POST /contact-form-7/v1/contact-forms":            {suggest.ReasonNotNeeded, true},
	} {
		report := reportOf(t, suggest.Options{}, recordsOf(seen{call, "page", 1, 9, nil}))
		left := report.Sites[0].LeftOut
		if len(report.Sites[0].Lines) > 0 || len(left) != 1 || left[0].Reason != want.reason || (left[0].Line != "") != want.named {
			t.Errorf("%s: %q, %+v", call, linesOf(report), left)
		}
	}
	text := textOf(t, reportOf(t, suggest.Options{}, recordsOf(seen{"POST /acme/v1/votes/:id", "page", 1, 9, nil}, seen{"GET /complianz/v1/datarequests", "none", 1, 9, nil})))
	for _, want := range []string{"a client can forge that: do you know this plugin?\n", "# The catalogue knows complianz-gdpr, and does not know that a visitor needs this.\n"} {
		if !strings.Contains(text, strings.Replace(want, "# The", "#   The", 1)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestDecisions: each kind of call gets its line, or is left out for its reason, and never both.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for name, d := range decisions {
		report := reportOf(t, suggest.Options{}, recordsOf(d.seen...))
		var want []string
		if d.line != "" {
			want = strings.Split(d.line, "\n")
		}
		if got := linesOf(report); !slices.Equal(got, want) {
			t.Errorf("%s: lines %q, want %q; left out %+v", name, got, want, report.Sites[0].LeftOut)
		}
		left := report.Sites[0].LeftOut
		if d.left == "" && len(left) > 0 || d.left != "" && (len(left) != 1 || left[0].Reason != d.left) {
			t.Errorf("%s: left out %+v, want %s", name, left, d.left)
		}
	}
}

// TestScanners: what only scanners call is left out, and a client who is none counts for itself.
func TestScanners(t *testing.T) {
	t.Parallel()
	const votes = "GET /acme/v1/votes"
	many := func(n int) []seen { return slices.Repeat([]seen{{"GET unknown", "none", 1, 3, nil}}, n) }
	for name, c := range map[string]struct {
		signs []seen
		is    bool
	}{
		"a list of users":           {[]seen{{"GET /wp/v2/users", "none", 1, 3, nil}}, true},
		"a list of users by a page": {[]seen{{"GET /wp/v2/users", "page", 1, 3, nil}}, false},
		"a known hole":              {[]seen{{"POST /wplp-react-gdpr/v1/store-auth", "none", 1, 3, rule("built-in: deny /*/v1/store-auth", "")}}, true},
		"a hole of a plugin's":      {[]seen{{"GET /post-smtp/v1/get-log", "other", 1, 3, nil}}, false}, // the app needs /post-smtp/v1/*
		"some unknown routes":       {many(4), false},                                                   // eight calls each
		"many unknown routes":       {many(5), true},
		"a user's":                  {[]seen{{"GET /wp/v2/users", "none", 1, 3, user("built-in: allow users /wp/v2/users")}}, false},
	} {
		for _, good := range []int{0, 2, 3} {
			all := append(slices.Clip(c.signs), seen{votes, "page", 1, 3, nil}, seen{votes, "page", 11, 10 + good, nil})
			report := reportOf(t, suggest.Options{}, recordsOf(all...))
			suggested := slices.Contains(linesOf(report), "allow anyone "+votes)
			if want := !c.is || good == 3; suggested != want {
				t.Errorf("%s, and %d others: %v", name, good, suggested)
			}
			i := slices.IndexFunc(report.Sites[0].LeftOut, func(l suggest.Left) bool { return l.Route == "/acme/v1/votes" })
			if c.is && good < 3 && report.Sites[0].LeftOut[i].Reason != map[int]suggest.Reason{0: suggest.ReasonScanners, 2: suggest.ReasonFew}[good] {
				t.Errorf("%s, and %d others: %s", name, good, report.Sites[0].LeftOut[i].Reason)
			}
		}
	}
}

// TestOpened: what a line opens beside the good traffic is told, and risky routes that were
// called are closed again.
func TestOpened(t *testing.T) {
	t.Parallel()
	const good, bad = "POST /gdpr/v2/acme", "POST /gdpr/v2/get_user_dashboard_data"
	report := reportOf(t, suggest.Options{}, recordsOf(seen{good, "none", 1, 3, nil}, seen{bad, "page", 5, 9, nil}))
	if got := linesOf(report); !slices.Equal(got, []string{"allow plugin gdpr-cookie-consent", "deny plugin gdpr-cookie-consent"}) {
		t.Errorf("%q", got)
	}
	if left := report.Sites[0].LeftOut; len(left) != 1 || left[0].Opened != "" {
		t.Errorf("%+v", left)
	}
	report = reportOf(t, suggest.Options{}, recordsOf(
		seen{"POST /sure-triggers/v1/automation/triggers", "none", 1, 3, nil},
		seen{"POST /sure-triggers/v1/automation/action", "none", 5, 9, rule("plugin suretriggers", "Caddyfile:5")},
	))
	if left := report.Sites[0].LeftOut; len(left) != 1 || left[0].Reason != suggest.ReasonGuarded || left[0].Opened != "" {
		t.Errorf("%+v", left)
	}
	few := reportOf(t, suggest.Options{}, recordsOf(seen{feedback, "page", 1, 3, nil}, seen{"GET /contact-form-7/v1/contact-forms/:id/refill", "none", 8, 8, nil}))
	if left := few.Sites[0].LeftOut; len(left) != 1 || left[0].Opened != "allow plugin contact-form-7" {
		t.Errorf("%+v", left)
	}
}

// TestPluginLines: a line of a plugin opens the groups that were seen alone, closes the risky
// rows that it would open, called or not, and asks where few clients called.
func TestPluginLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls []string
		text  []string
	}{
		{
			[]string{"POST /sure-triggers/v1/automation/triggers"},
			[]string{
				"# Only 1 client made some of these calls, and anybody can make them: is this plugin in use, and its service?\n",
				"\nallow plugin suretriggers\n", "\ndeny plugin suretriggers\n", "with published holes: CVE-2025-3102 (",
			},
		},
		{[]string{"POST /litespeed/v1/notify"}, []string{"\nallow plugin litespeed-cache", "\ndeny plugin litespeed-cache\n", "CVE-2023-40000"}},
		{
			[]string{"POST /wc-stripe/v1/webhook"},
			[]string{
				"\nallow plugin woo-stripe-payment for payments\n",
				"\n#   allow plugin woo-stripe-payment for payments {\n#       key {env.WOO_STRIPE_PAYMENT_KEY}\n#   }\n",
			},
		},
		{[]string{"POST /wc/v3/paypal-webhooks"}, []string{"\nallow plugin woocommerce for payments\n"}},
		{[]string{"POST /wc/v3/paypal-webhooks", "GET /wc/store/v1/cart"}, []string{"\nallow plugin woocommerce for payments\n", "\n#   allow plugin woocommerce for visitors\n"}},
		{
			[]string{"POST /wc/v3/paypal-webhooks", "POST /wc-admin/mobile-app/qr-login-exchange"},
			[]string{"\nallow plugin woocommerce for payments\n", "\n#   allow plugin woocommerce for apps\n"},
		},
		{[]string{"GET /pinterest/v1/oauth/callback"}, []string{"# No line is suggested.\n", "\n#   allow plugin pinterest-for-woocommerce for setup\n"}},
	} {
		var all []seen
		for _, call := range c.calls {
			all = append(all, seen{call, "none", 1, 1, nil})
		}
		text := textOf(t, reportOf(t, suggest.Options{}, recordsOf(all...)))
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.calls, want, text)
			}
		}
	}
	holes := textOf(t, reportOf(t, suggest.Options{}, recordsOf(seen{"GET /wc/store/v1/cart", "page", 1, 3, nil})))
	for _, want := range []string{"\nallow plugin woocommerce for visitors\n", "published holes"} {
		if !strings.Contains(holes, want) {
			t.Errorf("no %q in\n%s", want, holes)
		}
	}
}

// TestCrowd: a crowd of scanners that touches every route pushes no honest client out, neither
// of a plugin's line nor of a provider's, and nobody is called a scanner who is none.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const webhook = "POST /wc-stripe/v1/webhook"
	crowd := func(r *records.Record) {
		r.ClientIP = strings.Replace(r.ClientIP, "203.0.113.", "2001:db8:0:", 1) + "::1"
	}
	list := recordsOf(
		seen{feedback, "page", 1, 3, nil}, seen{webhook, "none", 4, 4, nil},
		seen{"GET /wp/v2/users", "none", 1000, 5000, crowd}, seen{feedback, "none", 1000, 5000, crowd}, seen{webhook, "none", 1000, 5000, crowd},
	)
	report := reportOf(t, suggest.Options{}, list)
	if got := linesOf(report); !slices.Contains(got, "allow plugin contact-form-7") || !slices.Contains(got, "allow plugin woo-stripe-payment for payments") {
		t.Errorf("%q", got)
	}
	if text := textOf(t, report); !strings.Contains(text, "feedback, 8008 calls by 3 clients and more than 20 scanners, from") || strings.Contains(text, "only scanners called") {
		t.Error(text)
	}
}

// TestOwnRules: a rule of the owner's that refuses users is an answer. One customer with many
// addresses is one user, also where the rule has moved, and what is private has no line.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	customer := func(rule, at string) func(*records.Record) {
		return func(r *records.Record) {
			user(rule)(r)
			r.UserID, r.At = 7, at
		}
	}
	for call, named := range map[string]bool{
		"GET /acme/v1/x": true, "POST /acme/v1/x": true, "GET /wp/v2/posts/:id/revisions": true, "POST /wp/v2/posts": false, "GET /wp/v2/users/me": false,
		"POST /wp/v2/settings": false, "GET /wc/v3/orders": false, "GET /wp/v2/users": false, "POST /wplp-react-gdpr/v1/import-settings": false,
	} {
		const rule = "allow role administrator /**"
		report := reportOf(t, suggest.Options{}, recordsOf(seen{call, "page", 1, 9, customer(rule, "Caddyfile:8")}, seen{call, "none", 1, 9, customer(rule, "Caddyfile:9")}))
		left := report.Sites[0].LeftOut
		if len(report.Sites[0].Lines) > 0 || len(left) != 1 || left[0].Reason != suggest.ReasonOwn || left[0].Users != 1 || left[0].At != "Caddyfile:9" {
			t.Errorf("%s: %q, %+v", call, linesOf(report), left)
		} else if (left[0].Line != "") != named {
			t.Errorf("%s: %q", call, left[0].Line)
		}
	}
}

// mixed are the records of all decisions, over several sites.
func mixed() (list []records.Record) {
	for i, name := range slices.Sorted(maps.Keys(decisions)) {
		for _, rec := range recordsOf(decisions[name].seen...) {
			rec.Site = fmt.Sprintf("%d.example.com", i%5)
			rec.ClientIP = strings.Replace(rec.ClientIP, "203.0.113.", fmt.Sprintf("198.51.%d.", i), 1)
			list = append(list, rec)
		}
	}
	return list
}

func textOf(t *testing.T, r *suggest.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReport_Order: the order of the records makes no difference.
func TestReport_Order(t *testing.T) {
	t.Parallel()
	list := mixed()
	want, _ := json.Marshal(reportOf(t, suggest.Options{}, list))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got, _ := json.Marshal(reportOf(t, suggest.Options{}, list)); string(got) != string(want) {
			t.Fatalf("%s\n%s", got, want)
		}
	}
}

// TestReport_Text: the text is as "caddy fmt" has it, and has nothing but comments and lines.
func TestReport_Text(t *testing.T) {
	t.Parallel()
	text := textOf(t, reportOf(t, suggest.Options{}, mixed()))
	if formatted := string(caddyfile.Format([]byte(text))); formatted != text {
		t.Errorf("not formatted:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.HasPrefix(line, "allow ") && !strings.HasPrefix(line, "deny plugin ") {
			t.Errorf("%q", line)
		}
	}
	for _, s := range []string{
		"# It opens every address of this shape, other routes of the site with it: caddy restwarden audit lists them.\n# It lets anybody write: a rate_limit beside it bounds how often.\n# POST /acme/v1/votes/:id", "or the gateway did not know it yet",
		"# POST", "3 clients, from page 6, other 0, none 0, 2026-01-01T00:00:00Z to 2026-01-01T00:00:01Z",
		"#   allow users GET /acme/v1/x, before Caddyfile:9, opens it to everybody who is logged in.\n", "# Left out: only needed while a service is being connected",
	} {
		if !strings.Contains(text, strings.Replace(s, "# POST", "# - POST", 1)) {
			t.Errorf("no %q in\n%s", s, text)
		}
	}
}

// TestOptions: host and time narrow what counts, and calls that were refused count for nothing.
func TestOptions(t *testing.T) {
	t.Parallel()
	list := recordsOf(seen{feedback, "page", 1, 3, nil}, seen{"GET /acme/v1/x", "page", 1, 3, nil})
	since, _ := suggest.ParseTime("2026-01-01T00:30")
	for _, c := range []struct {
		options suggest.Options
		lines   int
	}{
		{suggest.Options{}, 2},
		{suggest.Options{Host: "Shop.example.com"}, 2},
		{suggest.Options{Host: "example.com"}, 0},
		{suggest.Options{Since: since}, 1},
		{suggest.Options{MinClients: 4}, 0},
	} {
		if got := linesOf(reportOf(t, c.options, list)); len(got) != c.lines {
			t.Errorf("%+v: %q", c.options, got)
		}
	}
	for i := range list {
		list[i].Outcome = "refused"
	}
	if r := reportOf(t, suggest.Options{}, list); len(r.Sites) != 0 || r.Read.Refused != int64(len(list)) {
		t.Errorf("%+v", r)
	}
	if _, err := suggest.New(suggest.Options{MinClients: 101}); err == nil {
		t.Error("101 clients can be counted")
	}
}

func TestTimeOf(t *testing.T) {
	t.Parallel()
	for _, ts := range []string{
		`1767225600`, `1767225600.0`, `1767225600000`, `1767225600000000000`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.000Z"`, `"2026-01-01T01:00:00.000+0100"`,
		`"2026/01/01 00:00:00"`, `"2026/01/01 00:00:00.000"`, `"01/Jan/2026:00:00:00 +0000"`,
	} {
		if at, ok := suggest.TimeOf(json.RawMessage(ts)); !ok || at.Unix() != 1767225600 {
			t.Errorf("%s: %v %v", ts, at, ok)
		}
	}
	for _, ts := range []string{``, `0`, `-1`, `1e300`, `"yesterday"`, `{}`, `null`} {
		if at, ok := suggest.TimeOf(json.RawMessage(ts)); ok {
			t.Errorf("%s: %v", ts, at)
		}
	}
}
