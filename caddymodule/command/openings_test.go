package command_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// editor are credentials of a user.
const editor = "Authorization: Basic ZWRpdG9yOnNlY3JldA=="

// doorSite is what the REST root of the site with the calls of openingRows lists.
const doorSite = `{"name":"s","home":"https://shop.example.com","url":"https://shop.example.com","namespaces":["contact-form-7/v1","wc/store/v1","wc-stripe/v1","sure-triggers/v1","indieauth/1.0","acme/v1"],"routes":{
	"/contact-form-7/v1/contact-forms/(?P<id>\\d+)/feedback":{"methods":["POST"]},"/wc/store/v1/cart":{"methods":["GET"]},
	"/wc-stripe/v1/webhook":{"methods":["POST"]},"/sure-triggers/v1/automation/action":{"methods":["POST"]},
	"/indieauth/1.0/token":{"methods":["POST"]},"/acme/v1/votes/(?P<id>\\d+)":{"methods":["POST"]}}}`

// openingRows are calls, each with the line that opens it. All is the line of a plugin whose other
// callers the log of a single call does not show.
var openingRows = []struct {
	method, path, pattern string
	line, all             string
	why                   string // begins why the catalogue calls it risky
}{
	{"POST", "/contact-form-7/v1/contact-forms/5/feedback", "/contact-form-7/v1/contact-forms/:id/feedback", "allow plugin contact-form-7", "allow plugin contact-form-7", ""},
	{"GET", "/wc/store/v1/cart", "/wc/store/v1/cart", "allow plugin woocommerce for visitors", "allow plugin woocommerce", ""},
	{"POST", "/wc-stripe/v1/webhook", "/wc-stripe/v1/webhook", "allow plugin woo-stripe-payment for payments", "allow plugin woo-stripe-payment", ""},
	{"POST", "/indieauth/1.0/token", "/indieauth/1.0/token", "allow plugin indieauth for apps", "", ""},
	{"POST", "/sure-triggers/v1/automation/action", "/sure-triggers/v1/automation/action", "allow plugin suretriggers", "allow plugin suretriggers", "CVE-2025-3102 ("},
	{"POST", "/acme/v1/votes/7", "/acme/v1/votes/:id", "allow anyone POST /acme/v1/votes/:id", "", ""},
}

// TestOpenings: the remedy of a record, explain, suggest and audit propose the same line for a
// call. A record is about one call, so that its remedy is the line of the route. Suggest proposes
// none for a known hole, and explain says why it is one.
func TestOpenings(t *testing.T) {
	t.Parallel()
	root, file := write(t, "root.json", doorSite), guarded(t, "login_only")
	propose := auditJSON(t, "--index", root).Propose
	var lines []string
	for _, c := range openingRows {
		name := c.method + " " + c.path
		if c.all != "" {
			lines = append(lines, c.all)
		}
		change := explained(t, file, root, "anonymous", c.method, c.path)
		if change.Line != c.line || !strings.HasPrefix(change.Risk, c.why) || (change.Risk == "") != (c.why == "") {
			t.Errorf("%s: explain says %+v, want %s", name, change, c.line)
		}
		proposed, why := suggested(t, c.method, c.pattern)
		switch {
		case c.why == "" && proposed != c.line:
			t.Errorf("%s: suggest says %q, want %s", name, proposed, c.line)
		case c.why != "" && (proposed != "" || why != change.Risk):
			t.Errorf("%s: suggest says %q: %q; explain says %q", name, proposed, why, change.Risk)
		}
		if c.all != "" && !slices.Contains(propose, c.all) {
			t.Errorf("%s: audit says %q, want %s", name, propose, c.all)
		}
		route := openings.LineFor(openings.Seeker{}, c.method, c.pattern)
		if got := remedied(t, c.method, c.path, c.pattern, "Accept: application/json", "login_only"); got != route || !strings.Contains(c.line, "plugin") && got != c.line {
			t.Errorf("%s: the remedy is %q, want %s", name, got, route)
		}
	}
	for _, line := range propose {
		if !slices.Contains(lines, line) && strings.HasPrefix(line, "allow ") {
			t.Errorf("audit proposes %s as well", line)
		}
	}
}

// TestOpenings_Users: for a caller with a login whom a rule refuses the line admits users, whether
// or not somebody was asked who is calling.
func TestOpenings_Users(t *testing.T) {
	t.Parallel()
	file := guarded(t, "deny /acme/v1/**")
	const line = "allow users POST /acme/v1/votes/:id"
	if change := explained(t, file, write(t, "root.json", doorSite), "user", "POST", "/acme/v1/votes/7"); change.Line != line {
		t.Errorf("explain says %+v", change)
	}
	closed := guarded(t, "deny /sure-triggers/v1/**")
	if change := explained(t, closed, write(t, "root.json", doorSite), "user", "POST", "/sure-triggers/v1/automation/action"); change.Line == "" || change.Risk != "" {
		t.Errorf("for a user explain says %+v", change)
	}
	if got := remedied(t, "POST", "/acme/v1/votes/7", "/acme/v1/votes/:id", editor, "deny", "/acme/v1/**"); got != line {
		t.Errorf("the remedy is %q", got)
	}
}

// TestOpenings_InVain: credentials that do not count open no route for a shop key, which has to
// work, and the line says so of others: explain and the remedy agree.
func TestOpenings_InVain(t *testing.T) {
	t.Parallel()
	file, root := guarded(t, "login_only"), write(t, "root.json", doorSite)
	const line = "allow anyone POST /acme/v1/votes/:id"
	for header, want := range map[string]string{
		"Authorization: Basic Y2tfMTpjc18x":                 "",
		"Authorization: Bearer x":                           line,
		"Cookie: wordpress_logged_in_abc=admin%7C1":         line, // without a nonce it does not count
		"Accept: application/json":                          line,
		"X-WP-Nonce: 0123456789":                            line,
		"Cookie: wp_woocommerce_session_abc=1%7C2%7C3%7C45": line,
	} {
		if change := explained(t, file, root, "anonymous", "POST", "/acme/v1/votes/7", header); change.Line != want {
			t.Errorf("%s: explain says %+v, want %q", header, change, want)
		}
		if got := remedied(t, "POST", "/acme/v1/votes/7", "/acme/v1/votes/:id", header, "login_only"); got != want {
			t.Errorf("%s: the remedy is %q, want %q", header, got, want)
		}
	}
}

// TestOpenings_Role: a line before a rule for roles keeps them admitted, those of a built-in one too.
func TestOpenings_Role(t *testing.T) {
	t.Parallel()
	change := explained(t, guarded(t, "login_only"), write(t, "root.json", doorSite), "role:editor", "GET", "/acme/v1/troubleshooting")
	if change.Line != "allow role administrator,editor GET /acme/v1/troubleshooting" || change.Answer != dryrun.Pass {
		t.Errorf("%+v", change)
	}
}

func explained(t *testing.T, file, root, as, method, path string, header ...string) (change dryrun.Change) {
	t.Helper()
	line := []string{"explain", "--config", file, "--index", root, "--as", as, "-X", method, "--format", "json"}
	for _, h := range header {
		line = append(line, "-H", h)
	}
	out, problems, _ := command.Run(strings.NewReader(""), append(line, "https://shop.example.com/wp-json"+path)...)
	var result dryrun.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v\n%s", err, problems)
	}
	if result.Change != nil {
		change = *result.Change
	}
	return change
}

// suggested returns the line that suggest has of a log of one call, also where it leaves the call
// out, and why it is left out.
func suggested(t *testing.T, method, pattern string) (line, why string) {
	t.Helper()
	var log strings.Builder
	for _, client := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"} {
		log.WriteString(observed("shop.example.com", method, pattern, client, 1767225600))
	}
	out, problems, _ := command.Run(strings.NewReader(log.String()), "suggest", "--format", "json", "-")
	var report suggest.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Sites) != 1 {
		t.Fatalf("%v\n%s\n%s", err, out, problems)
	}
	s := report.Sites[0]
	if len(s.LeftOut) == 1 {
		return s.LeftOut[0].Line, s.LeftOut[0].Why
	}
	return s.Lines[0].Line, ""
}

// remedied returns the remedy of a refusal by access with one line.
func remedied(t *testing.T, method, path, pattern, header string, words ...string) string {
	t.Helper()
	site := policytest.NewSite(t)
	chain := policytest.Guarded(t, site, policies.Catalog, policy.Option{Name: words[0], Args: words[1:]})
	request := policytest.Request(t, site, asktest.Answering(http.StatusUnauthorized, `{"code":"rest_not_logged_in"}`), method, "/wp-json"+path, "", header)
	d := chain.Judge(t.Context(), request)
	if d.Outcome != policy.Refuse {
		t.Fatalf("%s %s: %+v", method, path, d)
	}
	return openings.Remedy(request, request.Call, d.Verdict, pattern)
}
