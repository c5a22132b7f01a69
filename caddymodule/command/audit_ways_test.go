package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/policies/plugins"
)

// block is a site of a Caddyfile with these lines before its backend.
func block(address string, lines ...string) string {
	return address + " {\n\troute {\n\t\t" + strings.Join(lines, "\n\t\t") + "\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n"
}

const (
	closing  = "restwarden wordpress {\n\t\t\tlogin_only\n\t\t}"
	leaving  = "restwarden wordpress"
	onPosts  = "@posts path /wp-json/wp/v2/posts*\n\t\t@other not path /wp-json/wp/v2/posts*\n\t\t"
	shopHome = "http://shop.example.com"
)

// TestAudit_Several: what several directives of a site do not agree on is not known, and the
// port of the address says which of them count.
func TestAudit_Several(t *testing.T) {
	matcher := func(directive, name string) string {
		return strings.Replace(directive, "restwarden", "restwarden "+name, 1)
	}
	ports := block(shopHome+":8081", closing) + block(shopHome+":8082", leaving)
	reversed := block(shopHome+":8082", leaving) + block(shopHome+":8081", closing)
	for name, test := range map[string]struct {
		config, address string
		want            audit.Reach // of POST /wp/v2/posts
		limits          int
	}{
		"apart, the closing one first":       {block(shopHome, onPosts+matcher(closing, "@other"), matcher(leaving, "@posts")), "", audit.Unknown, 1},
		"apart, the closing one last":        {block(shopHome, onPosts+matcher(leaving, "@posts"), matcher(closing, "@other")), "", audit.Unknown, 1},
		"by the address of the client":       {block(shopHome, "@own remote_ip 10.0.0.0/8", matcher(leaving, "@own"), matcher(closing, "")), "", audit.Unknown, 1},
		"both close":                         {block(shopHome, closing, strings.Replace(closing, "login_only", "login_only\n\t\t\tdeny /x", 1)), "", audit.None, 1},
		"equal ones":                         {block(shopHome+":8081, "+shopHome+":8082", closing), "", audit.None, 0},
		"two ports":                          {ports, "", audit.Unknown, 1},
		"two ports, reversed":                {reversed, "", audit.Unknown, 1},
		"two ports and an address":           {ports, shopHome + ":8082/", audit.All, 0},
		"two ports, reversed and an address": {reversed, shopHome + ":8082/", audit.All, 0},
		"two ports and the closed one":       {reversed, shopHome + ":8081", audit.None, 0},
		"a port of a proxy in front":         {reversed, shopHome, audit.Unknown, 1},
		"a site for all other hosts":         {block(shopHome+":8081", closing) + block("http://:8081", leaving), shopHome + ":8081", audit.None, 0},
		"all hosts on another port":          {block(shopHome+":8081", closing) + block("http://:8083", leaving), "--site shop.example.com", audit.Unknown, 1},
		"all hosts on a port not asked":      {block(shopHome+":8081", closing) + block("http://:8083", leaving), shopHome + ":8081", audit.None, 0},
	} {
		args := []string{"--index", savedRoot, "--config", write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+test.config)}
		report := auditJSON(t, append(args, strings.Fields(test.address)...)...)
		limits := slices.DeleteFunc(report.Limits, func(l string) bool { return !strings.HasPrefix(l, "Several directives") })
		if got := anonymous(report, "POST /wp/v2/posts"); got != test.want || len(limits) != test.limits {
			t.Errorf("%s: %s, %q", name, got, report.Limits)
		}
		if len(report.Propose) == 0 || report.Proposed.Anonymous.All == 0 {
			t.Errorf("%s: %q, %+v", name, report.Propose, report.Proposed.Anonymous)
		}
	}
}

// anonymous returns what callers without a login reach of an endpoint.
func anonymous(r *audit.Report, endpoint string) audit.Reach {
	for i := range r.Routes {
		for _, m := range r.Routes[i].Methods {
			if m.Method+" "+r.Routes[i].Name == endpoint {
				return m.Anonymous
			}
		}
	}
	return "absent"
}

// TestAudit_NotGuarded: of an address that the configuration serves without the directive, no
// rules are told; only of one that it does not know, the only site is taken.
func TestAudit_NotGuarded(t *testing.T) {
	shop := block(shopHome+":8081", closing)
	for name, test := range map[string]struct {
		config, address string
		status          int
		says            string
	}{
		"another host":         {shop + block("http://other.example.com:8081"), "http://other.example.com:8081", 4, "reverse_proxy 127.0.0.1:8080 answers there"},
		"a host of -H":         {shop + block("http://other.example.com:8081"), "-H Host:other.example.com http://127.0.0.1:8081", 4, "reverse_proxy 127.0.0.1:8080 answers there"},
		"the last host of -H":  {shop + block("http://other.example.com:8081"), "-H Host:other.example.com -H host:shop.example.com:80 http://other.example.com:8081", 0, `"site": "shop.example.com"`},
		"another port":         {shop + block(shopHome+":8082"), shopHome + ":8082", 4, "reverse_proxy 127.0.0.1:8080 answers there"},
		"one host of two":      {block(shopHome+":8081, http://www.shop.example.com:8081", "@www host www.shop.example.com", "restwarden @www wordpress {\n\t\t\tlogin_only\n\t\t}"), shopHome + ":8081", 4, "answers there"},
		"a folder":             {block(shopHome+":8081", "restwarden wordpress {\n\t\t\tbase /blog\n\t\t}"), shopHome + ":8081", 4, ", which guards /blog alone, answers there"},
		"the folder's site":    {block(shopHome+":8081", "restwarden wordpress {\n\t\t\tbase /blog\n\t\t}"), shopHome + ":8081/blog/", 0, `"site": "shop.example.com/blog"`},
		"an answer":            {shop + "http://other.example.com:8081 {\n\trespond 204\n}\n", "http://other.example.com:8081", 4, "respond 204 answers there"},
		"an unknown host":      {shop, "http://127.0.0.1:8080", 0, "Site assumed: "},
		"an unknown host, too": {shop, "http://other.example.com:8081", 0, "Site assumed: "},
		"the site is named":    {shop + block("http://other.example.com:8081"), "--site shop.example.com http://other.example.com:8081", 0, `"limits": [`},
		"the site itself":      {shop, shopHome + ":8081/wp-json/", 0, `"limits": []`},
	} {
		file := write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+test.config)
		line := append([]string{"audit", "--format", "json", "--index", savedRoot, "--config", file}, strings.Fields(test.address)...)
		out, problems, status := command.Run(strings.NewReader(""), line...)
		if status != test.status || !strings.Contains(out+problems, test.says) || status == 4 && out != "" {
			t.Errorf("%s: %d %s %.400s", name, status, problems, out)
		}
	}
}

// TestAudit_Password: no error says the password of an address.
func TestAudit_Password(t *testing.T) {
	shop := block(shopHome+":8081", closing)
	for name, test := range map[string]struct {
		config, address string
		status          int
	}{
		"not guarded": {shop + block("http://other.example.com:8081"), "http://bob:hunter2@other.example.com:8081/", 4},
		"a folder":    {block(shopHome+":8081", "restwarden wordpress {\n\t\t\tbase /blog\n\t\t}"), "http://bob:hunter2@shop.example.com:8081", 4},
		"no address":  {shop, "http://bob:hunter2@shop .example.com", 2},
		"no port":     {shop, "http://bob:hunter2/x@shop.example.com", 2},
		"no answer":   {shop, "http://bob:hunter2@127.0.0.1:1", 3},
	} {
		file := write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+test.config)
		out, problems, status := command.Run(strings.NewReader(""), "audit", "--config", file, test.address)
		if status != test.status || out != "" || problems == "" || strings.Contains(problems, "hunter2") {
			t.Errorf("%s: %d %s %s", name, status, problems, out)
		}
	}
}

// TestAudit_Uncertain: where calls may pass the rules, nothing is closed for certain.
func TestAudit_Uncertain(t *testing.T) {
	for name, config := range map[string]string{
		"W01":           block(shopHome+":8081", closing) + block(shopHome+":8082"),
		"W02":           block(shopHome+":8081", "handle /wp-json/own/* {\n\t\t\treverse_proxy 127.0.0.1:8080\n\t\t}", closing),
		"W03":           block(shopHome+":8081", "@m not path /wp-json/wp/v2/media*", strings.Replace(closing, "restwarden", "restwarden @m", 1)),
		"W12":           block(shopHome+":8081", closing, "uri strip_prefix /x"),
		"on_error pass": block(shopHome+":8081", strings.Replace(closing, "login_only", "login_only\n\t\t\taccess {\n\t\t\t\ton_error pass\n\t\t\t}", 1)),
		"call observes": block(shopHome+":8081", strings.Replace(closing, "login_only", "login_only\n\t\t\tcall {\n\t\t\t\tmode observe\n\t\t\t}", 1)),
		"call off":      block(shopHome+":8081", strings.Replace(closing, "login_only", "login_only\n\t\t\tcall off", 1)),
		"jetpack":       block(shopHome+":8081", strings.Replace(closing, "login_only", "login_only\n\t\t\tcredentials jetpack", 1)),
		"certain":       block(shopHome+":8081", closing),
	} {
		file := write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+config)
		report := auditJSON(t, "--index", savedRoot, "--config", file)
		certain := name == "certain"
		if report.Certain != certain || certain != (len(report.Limits) == 0) || anonymous(report, "POST /wp/v2/posts") != audit.None {
			t.Errorf("%s: %t, %q", name, report.Certain, report.Limits)
		}
		for _, kind := range []string{"anonymous-write", "known-hole", "unknown-namespace,anonymous-write", "needed-closed"} {
			out, problems, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file, "--fail-on", kind)
			want := map[bool]int{true: 0, false: 3}[certain]
			if strings.Contains(kind, "unknown-namespace") || kind == "needed-closed" {
				want = 1
			}
			says := want == 0 && problems == "" || want == 1 && strings.HasPrefix(problems, "fails ") || want == 3 && strings.HasPrefix(problems, "cannot be known: "+kind)
			if status != want || !says || strings.Contains(out, "at least 0 of 157") == certain || strings.Contains(out, "not certain") == certain {
				t.Errorf("%s %s: %d %q\n%s", name, kind, status, problems, out)
			}
		}
	}
}

// TestAudit_Observe: where nothing is refused, nothing is called closed or done.
func TestAudit_Observe(t *testing.T) {
	for lines, says := range map[string]string{
		"mode observe\n\t\tlogin_only":                        "mode observe (%s:2)",
		"login_only\n\t\taccess {\n\t\t\tmode observe\n\t\t}": "mode observe of access (%s:3)",
		"access off": "access off (%s:2)",
		"mode observe\n\t\tlogin_only\n\t\taccess {\n\t\t\tmode enforce\n\t\t}": "",
	} {
		file := guarded(t, lines)
		page := filepath.Join(t.TempDir(), "page.html")
		out, problems, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file, "--html", page)
		html, err := os.ReadFile(page)
		if err != nil || status != 0 {
			t.Fatalf("%d %s %v", status, problems, err)
		}
		says = strings.ReplaceAll(says, "%s", file)
		head, _, _ := strings.Cut(out, "\n")
		if says == "" {
			if strings.Contains(out, "nothing is refused") || strings.Contains(string(html), "nothing is refused, whatever") {
				t.Errorf("%s:\n%s", lines, out)
			}
			continue
		}
		if !strings.HasSuffix(head, "behind the gateway, "+says+": nothing is refused.") || !strings.Contains(out, "Take out "+says) {
			t.Errorf("%s:\n%s", lines, out)
		}
		for _, text := range []string{"refuses nothing: " + says, "Take " + says + " out of the configuration"} {
			if !strings.Contains(string(html), text) {
				t.Errorf("%s: no %q", lines, text)
			}
		}
		if strings.Contains(string(html), "closed to strangers but") || strings.Contains(string(html), "Nothing: the gateway is closed") || strings.Contains(out, "Nothing to add") {
			t.Errorf("%s: it is called closed", lines)
		}
	}
}

// TestAudit_Snippet: what the block of one site says counts for no other site of the snippet.
func TestAudit_Snippet(t *testing.T) {
	file := write(t, "Caddyfile", `(shop) {
	restwarden wordpress {
		{block}
	}
	reverse_proxy 127.0.0.1:8080
}
closed.example.com {
	import shop {
		login_only
	}
}
open.example.com {
	import shop {
		deny GET /acme/v1/x
	}
}
trial.example.com {
	import shop {
		login_only
		mode observe
	}
}
off.example.com {
	import shop {
		access off
	}
}
`)
	for site, want := range map[string]struct {
		loginOnly   bool
		notEnforced string
	}{
		"closed.example.com": {loginOnly: true},
		"open.example.com":   {},
		"trial.example.com":  {true, "mode observe (" + file + ":2 (imported by " + file + ":21))"},
		"off.example.com":    {false, "access off (" + file + ":2 (imported by " + file + ":26))"},
	} {
		report := auditJSON(t, "--index", savedRoot, "--config", file, "--site", site)
		if report.LoginOnly != want.loginOnly || report.NotEnforced != want.notEnforced || len(report.Propose) == 0 {
			t.Errorf("%s: login_only %v, %q, %q", site, report.LoginOnly, report.NotEnforced, report.Propose)
		}
		out, _, _ := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--config", file, "--site", site)
		_, proposed, _ := strings.Cut(out, "\nProposed\n")
		if strings.Contains(proposed, "  login_only\n") == want.loginOnly {
			t.Errorf("%s:\n%s", site, out)
		}
	}
}

// TestAudit_Diff: a wider rule for a part of an endpoint, and a new pattern under a known name,
// are more of it.
func TestAudit_Diff(t *testing.T) {
	one, form := `"/my/v1/(?P<id>[\\d]+)": {"methods": ["POST"]}`, `"/my/v1/form/(?P<form>[a-z0-9-]+)": {"methods": ["POST"]}`
	two := `"/my/v1/(?P<id>[a-z]+)": {"methods": ["GET"]}`
	both := strings.Replace(two, "GET", "POST", 1)
	root := func(routes ...string) string {
		return write(t, "root.json", `{"name": "A", "home": "https://shop.example.com", "namespaces": ["my/v1"], "routes": {`+strings.Join(routes, ",")+`}}`)
	}
	narrow, wide := "allow anyone POST /my/v1/form/newsletter", "allow anyone POST /my/v1/form/newsletter /my/v1/form/admin"
	for name, test := range map[string]struct {
		before, now []string // a root and rules
		status      int
		says        string
	}{
		"a wider rule":        {[]string{root(one, form), "login_only", narrow}, []string{root(one, form), "login_only", wide}, 3, "some, otherwise than before"},
		"the same rule":       {[]string{root(one, form), "login_only", narrow}, []string{root(one, form), "login_only", narrow}, 0, "nothing has changed"},
		"another rule beside": {[]string{root(one, form), "login_only", narrow}, []string{root(one, form), "login_only", narrow, "deny /other/v1/**"}, 0, "nothing has changed"},
		"a pattern":           {[]string{root(one), "allow anyone /my/v1/*"}, []string{root(one, both), "allow anyone /my/v1/*"}, 1, "+ POST /my/v1/:id, pattern /my/v1/(?P<id>[a-z]+)"},
		"a method":            {[]string{root(one, two), "allow anyone /my/v1/*"}, []string{root(one, both), "allow anyone /my/v1/*"}, 1, "+ POST /my/v1/:id, pattern /my/v1/(?P<id>[a-z]+)"},
	} {
		args := func(with []string) []string { return []string{"--index", with[0], "--config", guarded(t, with[1:]...)} }
		out, _, status := command.Run(strings.NewReader(""), append([]string{"audit", "--format", "json"}, args(test.before)...)...)
		if status != 0 {
			t.Fatal(status)
		}
		line := append([]string{"audit", "--diff", write(t, "old.json", out), "--fail-on", "new-anonymous-write"}, args(test.now)...)
		if out, problems, status := command.Run(strings.NewReader(""), line...); status != test.status || !strings.Contains(out, test.says) {
			t.Errorf("%s: %d %s %s", name, status, problems, out)
		}
	}
}

// TestAudit_OldReport: an earlier report that is odd, or of another site, is no base for a
// comparison; an empty --fail-on checks nothing, and says so.
func TestAudit_OldReport(t *testing.T) {
	out, _, status := command.Run(strings.NewReader(""), "audit", "--format", "json", "--index", savedRoot)
	if status != 0 {
		t.Fatal(status)
	}
	routes := regexp.MustCompile(`(?s)"routes": \[\n    (\{.*?\n    \}),`)
	for name, test := range map[string]struct {
		old    string
		status int
		says   string
	}{
		"the same":     {out, 0, ""},
		"trailing":     {out + "{}", 2, "something stands behind the report"},
		"twice":        {routes.ReplaceAllString(out, `"routes": [$1, $1,`), 2, "twice"},
		"no reach":     {strings.ReplaceAll(out, `"anonymous": "all"`, `"anonymous": "ALL"`), 2, `"ALL" is no reach`},
		"empty reach":  {strings.ReplaceAll(out, `"anonymous": "all"`, `"anonymous": ""`), 2, "is no reach"},
		"another site": {strings.Replace(out, `"site": "shop.example.com"`, `"site": "x"`, 1), 2, `is a report of "x", and this one is of "shop.example.com"`},
		"a root":       {`{"routes": {}}`, 2, `it is no report: make one with`},
	} {
		_, problems, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--diff", write(t, "old.json", test.old), "--fail-on", "new-route")
		if status != test.status || !strings.Contains(problems, test.says) {
			t.Errorf("%s: %d %s", name, status, problems)
		}
	}
	for _, words := range []string{"", "known-hole,,new-route", ","} {
		if out, problems, status := command.Run(strings.NewReader(""), "audit", "--index", savedRoot, "--fail-on", words); status != 2 || out != "" || !strings.Contains(problems, "--fail-on") {
			t.Errorf("%q: %d %s", words, status, problems)
		}
	}
}

// TestAudit_Again: audit proposes nothing more where its lines stand already, also where a rule
// of the owner hides them, for all entries of the catalogue with a limit.
func TestAudit_Again(t *testing.T) {
	routes, namespaces, limited := map[string]any{}, []string{}, 0
	for _, p := range plugins.All() {
		if !slices.ContainsFunc(p.Needed, func(n plugins.Need) bool { return n.Limit != "" }) {
			continue
		}
		limited++
		for _, ns := range p.Namespaces {
			namespaces = append(namespaces, ns.Name)
		}
		for _, n := range p.Needed {
			name := regexp.MustCompile(`/(\*\*|\*|:[^/]+)`).ReplaceAllString(n.Route, `/(?P<id>[^/]+)`)
			routes[name] = map[string]any{"methods": n.Methods}
		}
	}
	text, err := json.Marshal(map[string]any{"name": "A", "home": "https://shop.example.com", "namespaces": namespaces, "routes": routes})
	if err != nil {
		t.Fatal(err)
	}
	root := write(t, "root.json", string(text))
	lines := append([]string{"login_only"}, auditJSON(t, "--index", root).Propose...)
	if len(lines) < 3 || limited < 3 {
		t.Fatalf("%d entries, %q", limited, lines)
	}
	if report := auditJSON(t, "--index", root, "--config", guarded(t, lines...)); len(report.Propose) > 0 {
		t.Errorf("%q", report.Propose)
	}
	var all []string
	for _, p := range plugins.All() {
		if len(p.Needed) > 0 {
			all = append(all, "allow plugin "+p.Slug)
		}
	}
	if report := auditJSON(t, "--index", root, "--config", guarded(t, append([]string{"login_only", "deny /**"}, all...)...)); len(report.Propose) > 0 {
		t.Errorf("%q", report.Propose)
	}
}

// TestAudit_Placeholder: a key that this machine does not have keeps no report from being made.
func TestAudit_Placeholder(t *testing.T) {
	config := guarded(t, "login_only", "signature hook {\n\t\t\tkey {env.NOT_SET_ANYWHERE}\n\t\t}", "allow signed hook POST /hook/v1/in")
	if report := auditJSON(t, "--index", savedRoot, "--config", config); !report.LoginOnly || report.Proposed.Anonymous.All == 0 {
		t.Errorf("%+v", report)
	}
}
