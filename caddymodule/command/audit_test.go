package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/audit"
)

const savedRoot = "testdata/audit/root.json"

// write writes a file into a directory of the test.
func write(t *testing.T, name, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// guarded is a Caddyfile of one site with these lines in its directive.
func guarded(t *testing.T, lines ...string) (file string) {
	t.Helper()
	return write(t, "Caddyfile", "shop.example.com {\n\trestwarden wordpress {\n\t\t"+strings.Join(lines, "\n\t\t")+"\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n")
}

// auditJSON runs the command.
func auditJSON(t *testing.T, args ...string) *audit.Report {
	t.Helper()
	out, problems, status := command.Run(strings.NewReader(""), append([]string{"audit", "--format", "json"}, args...)...)
	if status != 0 {
		t.Fatalf("%q: %d %s", args, status, problems)
	}
	report := new(audit.Report)
	if err := json.Unmarshal([]byte(out), report); err != nil || report.Version != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return report
}

// TestAudit_Propose: with the proposed lines nothing that a plugin needs is closed, and
// nothing risky is open that no plugin needs. The lines load, check finds nothing odd, and
// each of them is needed.
func TestAudit_Propose(t *testing.T) {
	bare := auditJSON(t, "--index", savedRoot)
	want := []string{
		"allow plugin complianz-gdpr", "allow plugin contact-form-7", "allow plugin the-events-calendar", "allow plugin woo-stripe-payment",
		"allow plugin woocommerce", "allow plugin wordpress-seo", "deny plugin the-events-calendar",
	}
	if !slices.Equal(bare.Propose, want) || !slices.Equal(bare.UnknownNamespaces, []string{"acme/v1"}) || bare.Gateway {
		t.Errorf("%q, %q", bare.Propose, bare.UnknownNamespaces)
	}
	file := guarded(t, append([]string{"login_only"}, bare.Propose...)...)
	if findings, _ := checkedFile(t, file); len(findings) > 0 {
		t.Errorf("%+v", findings)
	}
	done := auditJSON(t, "--index", savedRoot, "--config", file)
	if len(done.Propose) > 0 || done.Totals.Anonymous != bare.Proposed.Anonymous || !done.Gateway || !done.LoginOnly || done.Site != "shop.example.com" {
		t.Errorf("%q, %+v, %+v", done.Propose, done.Totals, bare.Proposed)
	}
	for _, p := range done.Plugins {
		for _, n := range p.Needed {
			if n.Now != audit.All && !n.Optional && n.Group != "apps" && n.Group != "setup" && n.Route != "/tribe/events/v1/**" && n.Route != "/wc/store/v1/products/*" {
				t.Errorf("%s: %+v", p.Slug, n)
			}
		}
		for _, r := range p.Risky {
			if r.Now != audit.None && !r.Needed {
				t.Errorf("%s: %+v", p.Slug, r)
			}
		}
	}
	for i, line := range bare.Propose {
		file := guarded(t, append([]string{"login_only"}, slices.Delete(slices.Clone(bare.Propose), i, i+1)...)...)
		if fewer := auditJSON(t, "--index", savedRoot, "--config", file); !slices.Equal(fewer.Propose, []string{line}) {
			t.Errorf("without %s: %q", line, fewer.Propose)
		}
	}
}

// TestAudit_OwnRules: rules of the owner's count. What they open needs no line, what they
// open of risky things gets one, and what they close no line opens.
func TestAudit_OwnRules(t *testing.T) {
	file := guarded(t, "login_only", "deny /tribe/**", "allow anyone /complianz/v1/**", "allow anyone /wc-stripe/v1/**", "allow anyone /wc/**")
	report := auditJSON(t, "--index", savedRoot, "--config", file)
	want := []string{"allow plugin contact-form-7", "allow plugin wordpress-seo", "deny plugin complianz-gdpr", "deny plugin woocommerce"}
	if !slices.Equal(report.Propose, want) {
		t.Errorf("%q", report.Propose)
	}
	out, _, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file, "--fail-on", "needed-closed,known-hole")
	for _, text := range []string{
		"closed by deny /tribe/** at " + file + ":4: GET,POST /tribe/views/v2/html", "open, risky: GET /complianz/v1/documents",
		"CVE-2021-32789 GET /wc/store/v1/products/collection-data of woocommerce", "fails needed-closed: ", "fails known-hole: 1",
	} {
		if !strings.Contains(out, text) || status != 1 {
			t.Errorf("no %q, status %d:\n%s", text, status, out)
		}
	}
}

// TestAudit_Scopes: each scope is a column, of what its credential reaches by the rules and by the scope.
func TestAudit_Scopes(t *testing.T) {
	file := guarded(t, "login_only", "allow role editor /wp/v2/pages",
		"scope erp {", "key a1b2c3d", "allow GET /wc/v3", "allow POST /wc/v3/paypal-webhooks {", "only status", "}", "}",
		"scope agent {", "password 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11", "allow GET /wp/v2/**", "}", "scope others {", "key *", "}",
		"scope two {", "key 0000000", "password 5f0c2f0e-3a55-4c5c-8f0e-6a1d7f3b9c22", "allow GET /wp/v2/posts /wc/v3", "}")
	report := auditJSON(t, "--index", savedRoot, "--config", file)
	seen := map[string]string{}
	for i := range report.Routes {
		for _, m := range report.Routes[i].Methods {
			seen[m.Method+" "+report.Routes[i].Name] = fmt.Sprint(m.Scopes)
		}
	}
	for call, want := range map[string]string{
		"GET /wc/v3":                  "map[agent:none erp:all others:none two:all]",
		"POST /wc/v3/paypal-webhooks": "map[agent:none erp:some others:none two:none]",
		"GET /wp/v2/posts":            "map[agent:all erp:none others:none two:some]",
		"POST /wp/v2/posts":           "map[agent:none erp:none others:none two:none]",
		"GET /wp/v2/pages":            "map[agent:some erp:none others:none two:none]",
		"GET /wc/store/v1/cart":       "map[agent:none erp:none others:none two:none]",
		"POST /wp/v2/users/:id":       "map[agent:none erp:none others:none two:none]",
		"GET /wp/v2/posts/:id":        "map[agent:all erp:none others:none two:none]",
		"DELETE /wp/v2/posts/:id":     "map[agent:none erp:none others:none two:none]",
	} {
		if seen[call] != want {
			t.Errorf("%s: %q, want %q", call, seen[call], want)
		}
	}
	if all := report.Totals.Scopes; all["erp"].All != 1 || all["erp"].Some != 1 || all["agent"].All < 10 || all["others"].All != 0 {
		t.Errorf("%+v", all)
	}
	out, _, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file)
	if status != 0 || !strings.Contains(out, "administrator  scope agent  scope erp  scope others  scope two  anonymous, as proposed below") {
		t.Errorf("%d\n%s", status, out)
	}
	html := t.TempDir() + "/audit.html"
	if _, problems, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file, "--html", html); status != 0 {
		t.Fatal(problems)
	}
	if page, err := os.ReadFile(html); err != nil || !strings.Contains(string(page), "<th>admin.</th><th>agent</th><th>erp</th><th>others</th><th>two</th>") {
		t.Errorf("%v\n%s", err, page)
	}
}

// TestAudit_Limits: the report says why its numbers may be wrong.
func TestAudit_Limits(t *testing.T) {
	observes := auditJSON(t, "--index", savedRoot, "--config", guarded(t, "mode observe", "login_only"))
	if a := observes.Totals.Anonymous; a.All != observes.Totals.Endpoints || len(observes.Limits) == 0 || observes.Proposed.Anonymous.All >= a.All {
		t.Errorf("%+v, %q", observes.Totals, observes.Limits)
	}
	past := write(t, "Caddyfile", "a.example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\nb.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n")
	if report := auditJSON(t, "--index", savedRoot, "--config", past); len(report.Limits) != 1 || !strings.Contains(report.Limits[0], "W01") {
		t.Errorf("%q", report.Limits)
	}
}

// TestAudit_Credential: on an http shop the report says that order_type lacks a credential.
func TestAudit_Credential(t *testing.T) {
	for file, want := range map[string]bool{"W24.caddyfile": true, "W24-near.caddyfile": false} {
		report := auditJSON(t, "--index", "testdata/check/plain.json", "--config", "testdata/check/"+file)
		says := slices.ContainsFunc(report.Limits, func(l string) bool {
			return strings.Contains(l, "W24") && strings.Contains(l, "order_type { credential <key:secret> }")
		})
		if says != want {
			t.Errorf("%s: %q", file, report.Limits)
		}
	}
}

// TestAudit_Narrow: the report says which rules miss calls of a route that takes a slash.
func TestAudit_Narrow(t *testing.T) {
	for file, want := range map[string]bool{"W25.caddyfile": true, "W25-near.caddyfile": false} {
		report := auditJSON(t, "--index", "testdata/check/slashes.json", "--config", "testdata/check/"+file)
		says := slices.ContainsFunc(report.Limits, func(l string) bool {
			return strings.Contains(l, "W25") && strings.HasSuffix(l, "write /wp/v2/plugins/**.")
		})
		if says != want {
			t.Errorf("%s: %q", file, report.Limits)
		}
	}
}

// TestAudit_NoMethods: a root that tells no methods is no all-clear. Each route counts with
// all methods, and the report says so.
func TestAudit_NoMethods(t *testing.T) {
	report := auditJSON(t, "--index", "testdata/check/shop.json")
	if report.Totals.Endpoints != 7*5 || len(report.Writes) != 7*4 || !slices.Contains(report.Propose, "allow plugin contact-form-7") {
		t.Errorf("%+v, %q", report.Totals, report.Propose)
	}
	if len(report.Limits) != 1 || !strings.Contains(report.Limits[0], "does not tell the methods of 7 of its 7 routes") {
		t.Errorf("%q", report.Limits)
	}
	if report := auditJSON(t, "--index", savedRoot); len(report.Limits) > 0 {
		t.Errorf("%q", report.Limits)
	}
}

// rootOf is a file with a REST root of these namespaces and routes, "METHOD,METHOD /route".
func rootOf(t *testing.T, namespaces string, routes ...string) (file string) {
	t.Helper()
	listed := map[string]any{}
	for _, r := range routes {
		methods, route, _ := strings.Cut(r, " ")
		listed[route] = map[string]any{"methods": strings.Split(methods, ",")}
	}
	text, err := json.Marshal(map[string]any{"home": "https://shop.example.com", "namespaces": strings.Fields(namespaces), "routes": listed})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "root.json", string(text))
}

// TestAudit_UnlistedRisk: a line that opens a risky route has a line beside it that closes it,
// also where the root does not list the route.
func TestAudit_UnlistedRisk(t *testing.T) {
	root := rootOf(t, "sure-triggers/v1", `POST /sure-triggers/v1/automation/(?P<what>triggers)`)
	want := []string{"allow plugin suretriggers", "deny plugin suretriggers"}
	report := auditJSON(t, "--index", root)
	if !slices.Equal(report.Propose, want) || len(report.Holes) > 0 {
		t.Errorf("%q, %+v", report.Propose, report.Holes)
	}
	file := guarded(t, "login_only", "allow plugin suretriggers")
	out, _, status := command.Run(strings.NewReader(""), "audit", "--index", root, "--config", file, "--fail-on", "known-hole")
	for _, text := range []string{
		"open, risky: POST /sure-triggers/v1/automation/action, by plugin suretriggers at " + file + ":4, not in the REST root, CVE-2025-3102 of versions",
		"\n  deny plugin suretriggers\n", "fails known-hole",
	} {
		if !strings.Contains(out, text) || status != 1 {
			t.Errorf("no %q, status %d:\n%s", text, status, out)
		}
	}
	if done := auditJSON(t, "--index", root, "--config", guarded(t, "login_only", "allow plugin suretriggers", "deny plugin suretriggers"), "--fail-on", "known-hole"); len(done.Propose) > 0 {
		t.Errorf("%q", done.Propose)
	}
}

// TestAudit_Absent: a namespace alone makes no line, and no all-clear.
func TestAudit_Absent(t *testing.T) {
	root := rootOf(t, "wordfence/v1 suretriggers/v1 sure-triggers/v1 redirection/v1", "GET /sure-triggers/v1")
	out, _, status := command.Run(strings.NewReader(""), "audit", "--index", root, "--fail-on", "needed-closed,known-hole")
	absent := "  None of the routes that it needs is listed, and no risky one, so that no line is proposed:\n  suretriggers, wordfence\n"
	if status != 0 || !strings.Contains(out, absent) || !strings.Contains(out, "Plugins that the site seems to have: ") || strings.Contains(out, "plugin suretriggers\n") {
		t.Errorf("%d\n%s", status, out)
	}
	if report := auditJSON(t, "--index", root, "--config", guarded(t, "login_only")); len(report.Propose) > 0 || len(report.Holes) > 0 {
		t.Errorf("%q, %v", report.Propose, report.Holes)
	}
	opened := guarded(t, "login_only", "allow anyone /sure-triggers/**")
	if _, problems, status := command.Run(strings.NewReader(""), "audit", "--index", root, "--config", opened, "--fail-on", "known-hole"); status != 1 || !strings.Contains(problems, "CVE-2025-3102") {
		t.Errorf("%d %s", status, problems)
	}
}

// TestAudit_Signed: what opens for signed calls is open. A line with a key calls for none
// without it, and the proposal has the form with a key.
func TestAudit_Signed(t *testing.T) {
	root := rootOf(t, "wc-stripe/v1", "POST /wc-stripe/v1/webhook")
	bare := auditJSON(t, "--index", root)
	keyed := []string{"allow plugin woo-stripe-payment {", "    key {env.WOO_STRIPE_PAYMENT_KEY}", "}"}
	if len(bare.Plugins) != 1 || !slices.Equal(bare.Plugins[0].Keyed, keyed) {
		t.Fatalf("%+v", bare.Plugins)
	}
	file := guarded(t, "login_only", "allow plugin woo-stripe-payment {", "key "+strings.Repeat("k", 32), "}")
	out, problems, status := command.Run(strings.NewReader(""), "audit", "--index", root, "--config", file, "--fail-on", "needed-closed")
	if status != 0 || !strings.Contains(out, "1 of 1 needed routes open") || !strings.Contains(out, "    open for signed calls by plugin woo-stripe-payment at "+file+":4: POST /wc-stripe/v1/webhook") ||
		!strings.Contains(out, "\nNothing to add\n") {
		t.Errorf("%d %s\n%s", status, problems, out)
	}
}

// TestAudit_Unknown: the proposal says what it closes that the catalogue does not know.
func TestAudit_Unknown(t *testing.T) {
	out, _, _ := command.Run(strings.NewReader(""), "audit", "--index", savedRoot)
	for _, text := range []string{"\n  acme/v1 (1 endpoint for writing)\nAdd \"mode observe\" first", "not proposed: allow plugin wordpress\n"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q:\n%s", text, out)
		}
	}
	out, _, _ = command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", guarded(t, "login_only", "allow anyone /wp/v2/users"))
	if text := "open, risky: GET /wp/v2/users, by allow anyone /wp/v2/users at "; !strings.Contains(out, text) || strings.Contains(out, "acme/v1 (") {
		t.Errorf("no %q:\n%s", text, out)
	}
}

// TestAudit_Site: the site is the one of --site, else that of the address, else the only one.
func TestAudit_Site(t *testing.T) {
	several := write(t, "Caddyfile", `a.example.com, www.a.example.com {
	handle /blog/* {
		restwarden wordpress {
			base /blog
		}
		reverse_proxy 127.0.0.1:8082
	}
	handle {
		restwarden wordpress {
			login_only
		}
		reverse_proxy 127.0.0.1:8081
	}
}
:8080 {
	restwarden wordpress {
		prefix api
	}
	reverse_proxy 127.0.0.1:8083
}
`)
	for args, want := range map[string]string{
		"https://a.example.com":                           "a.example.com",
		"https://www.a.example.com/":                      "a.example.com",
		"https://a.example.com/blog/":                     "a.example.com/blog",
		"--site *:8080":                                   "*:8080",
		"--site a.example.com/blog https://a.example.com": "a.example.com/blog",
		"":                      "2 the configuration guards several sites: name one with --site: ",
		"https://b.example.com": "2 the configuration guards several sites",
		"--site a.example.co":   "2 did you mean a.example.com?",
		"--site a.example.com https://a.example.com one two three": "2 name one URL",
		"--fail-on new-rout":         "2 did you mean new-route?",
		"--fail-on new-route":        "2 new-route needs --diff",
		"--diff " + savedRoot:        "2 it is no",
		"--format jsn":               "2 did you mean json?",
		"--config nowhere/Caddyfile": "2 nowhere/Caddyfile",
	} {
		line := append([]string{"audit", "--format", "json", "--index", savedRoot, "--config", several}, strings.Fields(args)...)
		out, problems, status := command.Run(strings.NewReader(""), line...)
		if problem, fails := strings.CutPrefix(want, "2 "); fails {
			if status != 2 || !strings.Contains(problems, problem) || out != "" {
				t.Errorf("%q: %d %s %s", args, status, problems, out)
			}
		} else if status != 0 || !strings.Contains(out, `"site": "`+want+`"`) {
			t.Errorf("%q: %d %s %.300s", args, status, problems, out)
		}
	}
	if _, problems, status := command.Run(strings.NewReader(""), "audit"); status != 2 || !strings.Contains(problems, "name the URL") {
		t.Errorf("%d %s", status, problems)
	}
}

// site serves a saved root, and notes what is asked.
func site(t *testing.T, root []byte) (address string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Test"))
		if r.URL.Path == "/closed/wp-json/" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write(root) // a client that is gone shows in the test
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// TestAudit_Asks: the command sends one GET; a site that is closed is one of which nothing
// can be known.
func TestAudit_Asks(t *testing.T) {
	root, err := os.ReadFile(savedRoot)
	if err != nil {
		t.Fatal(err)
	}
	address, asked := site(t, root)
	if report := auditJSON(t, "-H", "X-Test: yes", "--prefix", "api", address); report.Address != address+"/api/" || report.Totals.Endpoints < 100 {
		t.Errorf("%s, %+v", report.Address, report.Totals)
	}
	if !slices.Equal(*asked, []string{"GET /api/ yes"}) {
		t.Errorf("%q", *asked)
	}
	out, problems, status := command.Run(strings.NewReader(""), "audit", address+"/closed")
	if status != 3 || out != "" || !strings.Contains(problems, "closed to callers without a login") {
		t.Errorf("%d %s %s", status, problems, out)
	}
}

// TestAudit_Untrusted: what a site says moves no cursor and makes no markup.
func TestAudit_Untrusted(t *testing.T) {
	text, err := json.Marshal(map[string]any{
		"name": "\x1b[2Jx", "home": "https://\u202eshop.example.com", "namespaces": []string{"a\x1b[31m/v1", "<script>alert(1)</script>/v1"},
		"routes": map[string]any{
			"/a\x1b[31m/v1/x":                 map[string]any{"methods": []string{"GET", "P\x1b[0mUT"}},
			"/<script>alert(1)</script>/v1/y": map[string]any{"methods": []string{"GET"}},
			"/(?<![a])\u009b2J<img src=x>/":   map[string]any{"methods": []string{"POST"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	out, problems, status := command.Run(strings.NewReader(""), "audit", "--all", "--html", page, "--index", write(t, "root.json", string(text)))
	if status != 0 || strings.ContainsAny(out, "\x1b\u009b\u202e") || strings.Count(out, "POST") != 2 {
		t.Errorf("%d %q %q", status, out, problems)
	}
	html, err := os.ReadFile(page)
	if err != nil || strings.Contains(string(html), "<script") || strings.Contains(string(html), "<img") || strings.ContainsAny(string(html), "\x1b\u009b\u202e") ||
		!strings.Contains(string(html), "&lt;script&gt;") {
		t.Errorf("%v: %s", err, html)
	}
}

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// TestDocs_Audit runs the commands of docs/commands/audit.md, in their order.
func TestDocs_Audit(t *testing.T) {
	docs, err := os.ReadFile("../../docs/commands/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile(savedRoot)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := site(t, root)
	config := guarded(t, "login_only", "tag shops")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.Replace(text, []byte("127.0.0.1:8080"), []byte(strings.TrimPrefix(address, "http://")), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("root.json", root, 0o600); err != nil {
		t.Fatal(err)
	}
	real := strings.NewReplacer("https://shop.example.com", address, "http://127.0.0.1:8080", address, "/etc/caddy/Caddyfile", config)
	ran := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(docs), -1) {
		for line := range strings.Lines(block[1]) {
			words, file, saves := strings.Cut(strings.TrimSpace(line), " > ")
			args, ok := strings.CutPrefix(real.Replace(words), "caddy restwarden ")
			out, problems, status := command.Run(strings.NewReader(""), strings.Fields(args)...)
			want, says := 0, ""
			if strings.Contains(args, "known-hole") { // the saved root has some
				want, says = 1, "fails known-hole: 4: CVE-"
			}
			if !ok || status != want || out == "" || !strings.HasPrefix(problems, says) || says == "" && problems != "" {
				t.Errorf("%s: %d %s", line, status, problems)
			}
			if head, _, ok := strings.Cut(out, "\n"); ok && strings.HasPrefix(head, "SITE ") && !slices.ContainsFunc(strings.Split(string(docs), "\n"), func(l string) bool { return slices.Equal(strings.Fields(l), strings.Fields(head)) }) {
				t.Errorf("the page shows another table than %s", head)
			}
			if saves {
				if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ran++
		}
	}
	for _, file := range []string{"shop.html", "pages/index.html", "pages/shop.example.com.html"} {
		if _, err := os.Stat(file); err != nil || ran != 11 {
			t.Errorf("%d commands, %v", ran, err)
		}
	}
}
