package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/credentials"
)

const day = 24 * 60 * 60

// passed is a line of the journal. credential is its JSON.
func passed(site, credential, method, route, client string, status, at int) string {
	return fmt.Sprintf(`{"level":"info","ts":%d,"logger":"http.handlers.restwarden.journal","msg":"call passed","v":1,"request_id":"a","site":%q,"host":%q,`+
		`"client_ip":%q,"credential":%s,"caller":"","method":%q,"route":%q,"status":%d,"took":0.1}`+"\n", at, site, site, client, credential, method, route, status)
}

const (
	erp        = `{"kind":"key","key":"a1b2c3d","scope":"erp"}`
	erpClaimed = `{"kind":"key","key":"a1b2c3d","claimed":true}`
	uuid       = "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"
	start      = 1767225600
)

// journalOf writes three days of two sites.
func journalOf() (log string) {
	const shop = "shop.example.com"
	for i := range 3 {
		at := start + i*day
		log += passed(shop, erp, "GET", "/wc/v3/orders", "203.0.113.7", 200, at)
		log += passed(shop, erp, "GET", "/wc/v3/orders/:id", "203.0.113.7", 404, at+1)
		log += passed(shop, erp, "PUT", "/wc/v3/orders/:id", "203.0.113.8", 200, at+2)
		log += passed(shop, erpClaimed, "OPTIONS", "/wc/v3/orders", "203.0.113.7", 200, at+3) // it is the program: its address
		log += passed(shop, erpClaimed, "POST", "/wp/v2/comments", "192.0.2.66", 201, at+4)   // a stranger names its key
		log += passed(shop, `{"kind":"key","key":"zzzzzzz","claimed":true}`, "GET", "/wc/v3", "192.0.2.66", 200, at+5)
		log += passed(shop, erp, "DELETE", "/wc/v3/customers/:id", "203.0.113.7", 401, at+6)
	}
	log += passed(shop, erp, "POST", "unknown", "203.0.113.7", 200, start)
	part := passed(shop, erpClaimed, "PUT", "/wc/v3/orders/:id", "203.0.113.7", 200, start+9)
	log += strings.Replace(part, `"status"`, `"batch":"POST /wc/v3/orders/batch","status"`, 1)
	log += passed(shop, `{"kind":"password","uuid":"`+uuid+`","login":"maria"}`, "POST", "/wp/v2/users", "203.0.113.9", 201, start)
	log += passed(shop, `{"kind":"password","login":"otto"}`, "GET", "/wp/v2/users/me", "203.0.113.9", 200, start)
	log += passed(shop, `{"kind":"user","login":"Anna Maria"}`, "GET", "/wp-abilities/v1/abilities/:name/run", "203.0.113.9", 200, start)
	log += passed("blog.example.com", `{"kind":"user","login":"ann"}`, "GET", "/a/v1[/:id]", "203.0.113.9", 200, start+9*day)
	refused := strings.NewReplacer("rest_not_logged_in", "rest_credential_scope", "would_refuse", "refused", `"caller":"anonymous"`, `"caller":"","credential":`+erpClaimed)
	log += refused.Replace(observed(shop, "GET", "/wc/v3/customers", "203.0.113.7", start+10))
	log += refused.Replace(observed(shop, "GET", "/wc/v3/customers", "192.0.2.66", start+11))
	return log + "no JSON\n"
}

const wantErp = `key a1b2c3d, scope erp
  17 calls on 3 days from 2 addresses, 2026-01-01T00:00:00Z to 2026-01-03T00:00:06Z
  from 203.0.113.7 (14), 203.0.113.8 (3)
  left out: 3 calls with nothing but its name, from other addresses
  refused: 1 call with rest_credential_scope
    DELETE   /wc/v3/customers/:id  3  last 2026-01-03T00:00:06Z, 3 of them denied by the platform
    GET      /wc/v3/orders         3  last 2026-01-03T00:00:00Z
    OPTIONS  /wc/v3/orders         3  last 2026-01-03T00:00:03Z
    GET      /wc/v3/orders/:id     3  last 2026-01-03T00:00:01Z
    PUT      /wc/v3/orders/:id     4  last 2026-01-03T00:00:02Z
    POST     /wc/v3/orders/batch   1  last 2026-01-01T00:00:09Z, as parts of its batches
    POST     unknown               1  last 2026-01-01T00:00:00Z
`

func TestCredentials(t *testing.T) {
	t.Parallel()
	log := journalOf()
	half := strings.Index(log, "\n") + 1
	whole, first, second := logFile(t, "all.log", []byte(log)), logFile(t, "new.log", []byte(log[:half])), logFile(t, "old.log.gz", zipOf(t, log[half:]))
	config := guarded(t, "scope erp {\nkey a1b2c3d\nallow GET,PUT /wc/v3/orders/*\nallow /wc/v3/coupons\n}", "scope gone {\nkey 9999999\n}")
	const blog = "blog.example.com: 1 credential"
	for name, c := range map[string]struct {
		in   string
		args []string
		want []string // "!" before what must not be there
		code int
	}{
		"all":               {"", []string{whole}, []string{wantErp, blog, "Left out: 1 credential that nobody has verified, with 3 calls", "\npassword " + uuid + " of maria\n", "!zzzzzzz", "password of otto, its uuid is not in the log", "user anna maria\n", "!In the configuration"}, 0},
		"standard input":    {log, []string{"-"}, []string{wantErp, blog}, 0},
		"a site":            {"", []string{"--site", "shop.example.com", whole}, []string{wantErp, "!" + blog}, 0},
		"since a day":       {"", []string{"--since", "2026-01-03", whole}, []string{"5 calls on 1 day", blog, "!maria"}, 0},
		"since an hour":     {"", []string{"--since", "1h", whole}, []string{blog, "!a1b2c3d"}, 0},
		"with its scopes":   {"", []string{"--config", config, whole}, []string{"  scope gone: no credential of the logs has it\n", "  scope erp: allow /wc/v3/coupons at /", "!allow PUT /wc/v3/orders/*", "!allow GET /wc/v3/orders/*"}, 0},
		"scopes":            {"", []string{"--scopes", whole}, []string{"scope erp {\n\tkey a1b2c3d\n", "\tallow GET,OPTIONS /wc/v3/orders\n", "\tallow GET,PUT /wc/v3/orders/*\n", "\tallow POST /wc/v3/orders/batch\n", "!comments", "!allow DELETE", "# Left out: POST unknown: 1 call", "\t# W23: ", "\tallow POST /wp/v2/users\n", "# scope otto {\n# \tpassword <uuid>", "\tuser \"anna maria\"\n", "\tallow GET /a/v1 /a/v1/*\n", "/wp-abilities/v1/abilities/*/*/run\n"}, 0},
		"scopes of days":    {"", []string{"--scopes", "--min-days", "2", whole}, []string{"scope erp {", "!scope maria", "# Left out: 3 credentials seen on fewer than 2 days."}, 0},
		"json":              {"", []string{"--format", "json", whole}, []string{`"v": 1`}, 0},
		"only claimed":      {passed("a", erpClaimed, "GET", "/wc/v3", "", 200, 1), []string{"-"}, nil, 3},
		"no journal":        {observed("a", "GET", "/x", "", 1), []string{"-"}, nil, 3},
		"nothing since":     {"", []string{"--since", "2027-01-01", whole}, nil, 3},
		"cut off":           {string(zipOf(t, log)[:300]), []string{"-"}, nil, 3},
		"no log":            {"", nil, nil, 2},
		"missing":           {"", []string{whole + "x"}, nil, 2},
		"a wrong format":    {"", []string{"--format", "txt", whole}, nil, 2},
		"a wrong time":      {"", []string{"--since", "yesterday", whole}, nil, 2},
		"days without":      {"", []string{"--min-days", "2", whole}, nil, 2},
		"scopes as JSON":    {"", []string{"--scopes", "--format", "json", whole}, nil, 2},
		"a broken config":   {"", []string{"--config", guarded(t, "scope x {\n}"), whole}, nil, 2},
		"live with a log":   {"", []string{"--live", "https://shop.example.com", whole}, nil, 2},
		"live, and nobody":  {"", []string{"--live", "https://shop.example.com"}, nil, 2},
		"a header, no live": {"", []string{"-H", "A: b", whole}, nil, 2},
		"a platform":        {"", []string{"--platform", "x", whole}, nil, 2},
	} {
		out, problems, status := command.Run(strings.NewReader(c.in), append([]string{"credentials"}, c.args...)...)
		if status != c.code || (status != 0) != strings.Contains(problems, "Error: ") {
			t.Errorf("%s: exit status %d, want %d: %s", name, status, c.code, problems)
		}
		for _, text := range c.want {
			if not, is := strings.CutPrefix(text, "!"); strings.Contains(out, not) == is {
				t.Errorf("%s: %q in\n%s", name, text, out)
			}
		}
	}
	for _, more := range []string{"--format=text", "--format=json", "--scopes"} {
		one, _, _ := command.Run(nil, "credentials", more, whole)
		for _, files := range [][]string{{first, second}, {second, first}, {whole, whole}} {
			if out, problems, _ := command.Run(nil, append([]string{"credentials", more}, files...)...); out != one || !strings.Contains(problems, "lines read: 30; calls of the journal: 27; in question: 27; records of refusals, in question: 2; no JSON, skipped: 1") {
				t.Errorf("%s\nfrom %q:\n%s\n%s", one, files, out, problems)
			}
		}
	}
}

func TestCredentials_JSON(t *testing.T) {
	t.Parallel()
	out, problems, status := command.Run(strings.NewReader(journalOf()), "credentials", "--format", "json", "--site", "shop.example.com", "-")
	var report credentials.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 || report.Version != 1 || len(report.Sites) != 1 || len(report.Sites[0].Credentials) != 4 {
		t.Fatalf("%v, %d: %s\n%s", err, status, problems, out)
	}
	if c := report.Sites[0].Credentials[0]; c.Key != "a1b2c3d" || c.Calls != 17 || c.Days != 3 || c.Strange != 3 || c.Addresses.Count != 2 || len(c.Routes) != 7 {
		t.Errorf("%+v", c)
	}
}

// TestCredentials_Load: scopes that are printed load, whatever stands in the log.
func TestCredentials_Load(t *testing.T) {
	t.Parallel()
	log := journalOf()
	for i, login := range []string{"off", "x } deny", "a\nb", `q"uote`, "{$HOME}", "ck_1", "-", "Ümlaut", " a "} {
		quoted, _ := json.Marshal(login)
		log += passed("shop.example.com", `{"kind":"user","login":`+string(quoted)+`,"scope":"erp"}`, "GET", fmt.Sprint("/a/v1/", map[bool]string{true: "b_c", false: ":d"}[i%2 == 0]), "1.2.3.4", 200, start)
		log += passed("shop.example.com", `{"kind":"key","key":`+string(quoted)+`}`, "GET", login, "1.2.3.4\x1b[31m", 200, start)
		log += passed("shop.example.com", `{"kind":"password","uuid":`+string(quoted)+`}`, login, "/a", "1.2.3.4", 200, start)
	}
	log = strings.ReplaceAll(log, "\\x1b", "\\u001b")
	out, problems, status := command.Run(strings.NewReader(log), "credentials", "--site", "shop.example.com", "--scopes", "-")
	if status != 0 {
		t.Fatal(problems)
	}
	file := guarded(t, out)
	if found, problems, status := command.Run(nil, "check", "--config", file, "--format", "json"); status > 1 || strings.Contains(out, "\x1b") {
		t.Errorf("%d: %s\n%s\n%s", status, found, problems, out)
	}
}

// ownList is a list of application passwords.
const ownList = `[{"uuid":"` + uuid + `","app_id":"","name":"ERP\u001b[31m","created":"2026-01-01T00:00:00","last_used":null,"last_ip":"203.0.113.7","password":"s3cret"}]`

// passwordSite answers the question for the application passwords of a login.
func passwordSite(status int, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Basic YTpi":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/wp-json/":
			_, _ = w.Write([]byte(`{"namespaces":["wp/v2"],"routes":{"/wp/v2/posts":{}}}`)) // a test
		case r.URL.Path == "/wp-json/wp/v2/users/me/application-passwords":
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // a test
		}
	}))
}

// TestCredentials_Live: the uuids of a login are listed, and what the site answers else is said.
func TestCredentials_Live(t *testing.T) {
	t.Parallel()
	header := filepath.Join(t.TempDir(), "header")
	if err := os.WriteFile(header, []byte("Authorization: Basic YTpi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		args   []string
		want   string
		code   int
	}{
		"a list":    {200, ownList, nil, uuid + `  ERP\x1b[31m  2026-01-01T00:00:00  never      203.0.113.7`, 0},
		"by a file": {200, ownList, []string{"-H", "@" + header}, uuid, 0},
		"JSON":      {200, ownList, []string{"--format", "json"}, `"uuid": "` + uuid + `"`, 0},
		"none":      {200, "[]", nil, "no application passwords", 3},
		"401":       {401, `{"code":"rest_not_logged_in"}`, nil, "does not accept the login of -H, or the login may not list its passwords (401 Unauthorized rest_not_logged_in)", 3},
		"404":       {404, `{"code":"rest_no_route"}`, nil, "has no application passwords", 3},
		"501":       {501, `{"code":"application_passwords_disabled"}`, nil, "switched off", 3},
		"500":       {500, "x", nil, "cannot be used (500 Internal Server Error)", 3},
		"a page":    {200, "<html>", nil, "is no list in JSON", 3},
		"too large": {200, "[" + strings.Repeat(" ", 2<<20) + "]", nil, "larger than 1 MiB", 3},
	} {
		site := passwordSite(c.status, c.body)
		args := append([]string{"credentials", "--live", site.URL}, c.args...)
		if !strings.Contains(strings.Join(args, " "), "@") {
			args = append(args, "-H", "Authorization: Basic YTpi")
		}
		out, problems, status := command.Run(nil, args...)
		site.Close()
		if status != c.code || !strings.Contains(out+problems, c.want) || strings.Contains(out+problems, "s3cret") || strings.Contains(out+problems, "YTpi") {
			t.Errorf("%s: %d, %s%s", name, status, out, problems)
		}
	}
	out, problems, status := command.Run(nil, "credentials", "--live", "shop.example.com", "-H", "A: b")
	if status != 2 || !strings.Contains(problems, "is no address") {
		t.Errorf("%d, %s%s", status, out, problems)
	}
}
