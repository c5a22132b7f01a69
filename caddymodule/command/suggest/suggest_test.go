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
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call/platforms"
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
				rec := records.Record{Record: record.Record{
					Version: 1, RequestID: "r", Site: site, Host: site, Policy: "access", Code: "rest_not_logged_in", Outcome: "would_refuse",
					Rule: "login_only", At: "Caddyfile:4", From: s.from, Method: method, Form: "pretty", Route: route,
					Remedy: "allow anyone " + strings.Replace(method, "HEAD", "GET", 1) + " " + route, ClientIP: fmt.Sprintf("203.0.113.%d", client), Caller: "anonymous",
				}, Time: json.RawMessage(fmt.Sprint(1767225600 + 3600*i + again))}
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
		o.Platform, _ = platforms.ByName("wordpress")
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
	"two methods":                    {[]seen{{"POST /acme/v1/a", "page", 1, 3, nil}, {"GET /acme/v1/a", "page", 1, 3, nil}}, "allow anyone GET /acme/v1/a\nallow anyone POST /acme/v1/a", ""},
	"PUT of a page":                  {[]seen{{"PUT /acme/v1/a", "page", 1, 9, nil}}, "", suggest.ReasonChange},
	"PATCH of nobody's":              {[]seen{{"PATCH /acme/v1/a", "none", 1, 9, nil}}, "", suggest.ReasonChange},
	"DELETE of few":                  {[]seen{{"DELETE /acme/v1/a/:id", "page", 1, 1, nil}}, "", suggest.ReasonChange},
	"DELETE beside honest reads":     {[]seen{{"GET /acme/v1/a/:id", "page", 1, 60, nil}, {"DELETE /acme/v1/a/:id", "page", 61, 63, nil}}, "allow anyone GET /acme/v1/a/:id", suggest.ReasonChange},
	"PUT that a plugin needs":        {[]seen{{"PUT /wc/store/v1/checkout", "page", 1, 3, nil}}, "allow plugin woocommerce for visitors", ""},
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
	"users":                          {[]seen{{"GET /wp/v2/users", "page", 1, 9, rule("built-in: only users /wp/v2/users", "")}}, "", suggest.ReasonGuarded},
	"users without built-in rules":   {[]seen{{"GET /wp/v2/users/:id", "page", 1, 9, nil}}, "", suggest.ReasonGuarded},
	"a line deny plugin":             {[]seen{{"GET /wp/v2/search", "page", 1, 9, rule("deny plugin wordpress", "Caddyfile:5")}}, "", suggest.ReasonGuarded},
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
	"one line of a customer":         {[]seen{{"POST /acme/v1/votes", "page", 1, 9, func(r *records.Record) { r.ClientIP = "2001:db8:42:" + r.ClientIP[10:] + "::1" }}}, "", suggest.ReasonFew},
	"three lines of customers":       {[]seen{{"POST /acme/v1/votes", "page", 1, 3, func(r *records.Record) { r.ClientIP = "2001:db8:" + r.ClientIP[10:] + "::1" }}}, "allow anyone POST /acme/v1/votes", ""},
	"another policy":                 {[]seen{{"PUT /wc/v3/orders/:id", "none", 1, 9, func(r *records.Record) { r.Policy, r.Rule = "order_type", "order_type" }}}, "", suggest.ReasonPolicy},
	"a wrong password":               {[]seen{{"GET /acme/v1/x", "none", 1, 9, func(r *records.Record) { r.Code = "platform" }}}, "", suggest.ReasonPlatform},
	"no reading":                     {[]seen{{"GET unknown", "none", 1, 9, func(r *records.Record) { r.Form, r.Policy = "", "call" }}}, "", suggest.ReasonUnread},
	"users of a role":                {[]seen{{"GET /acme/v1/x", "page", 1, 3, user("allow role editor /acme/**")}}, "", suggest.ReasonOwn},
	"users of a role, few":           {[]seen{{"GET /acme/v1/x", "page", 1, 2, user("allow role editor /acme/**")}}, "", suggest.ReasonOwn},
	"users whom a line denies":       {[]seen{{"GET /acme/v1/x", "page", 1, 9, user("deny /acme/**")}}, "", suggest.ReasonOwn},
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
		"a known hole":              {[]seen{{"POST /wplp-react-gdpr/v1/store-auth", "none", 1, 3, rule("built-in: nobody /*/v1/store-auth", "")}}, true},
		"what deny plugin closes":   {[]seen{{"GET /klaviyo/v1/version", "none", 1, 3, rule("deny plugin klaviyo", "Caddyfile:5")}}, false},
		"a hole that deny closes":   {[]seen{{"GET /pmpro/v1/order", "none", 1, 3, rule("deny plugin paid-memberships-pro", "Caddyfile:5")}}, true},
		"a hole of a plugin's":      {[]seen{{"GET /post-smtp/v1/get-log", "other", 1, 3, nil}}, false}, // the app needs /post-smtp/v1/*
		"some unknown routes":       {many(4), false},                                                   // eight calls each
		"many unknown routes":       {many(5), true},
		"a user's":                  {[]seen{{"GET /wp/v2/users", "none", 1, 3, user("built-in: only users /wp/v2/users")}}, false},
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
	since, _ := records.ParseTime("2026-01-01T00:30")
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
