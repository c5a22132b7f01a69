package command_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

const siteFile = `shop.example.com, www.shop.example.com {
	@feed rest_call GET /feed/v1/items
	respond @feed "closed" 403
	restwarden wordpress {
		spool_dir {env.PWD}
		spool_limit 1MiB
		login_only
		allow role wholesale,editor,accountant /wp/v2/posts
		allow anyone POST /*/v1/**
	}
	reverse_proxy 127.0.0.1:8080
}
blog.example.com {
	@other rest_call GET /other/v1/items
	respond @other "closed" 403
	restwarden wordpress {
		spool_dir {env.PWD}
		spool_limit 1MiB
		login_only
		allow anyone GET /nothing/of/the/shop
	}
	reverse_proxy 127.0.0.1:8081
}
`

// TestCheck_Live: the site is asked for its root and, with credentials, for roles that neither
// the core nor the shop has. Nothing else is sent. What it does not say is no finding.
func TestCheck_Live(t *testing.T) {
	inFile(t, siteFile)
	const says = `{"home":"https://shop.example.com","namespaces":["wp/v2","acme/v1"],"routes":{"/":{},"/wp/v2/posts":{},"/acme/v1/x":{}}}`
	var asked []string
	total, status := "0", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
		switch role := r.URL.Query().Get("roles"); role {
		case "":
			_, _ = w.Write([]byte(says))
		case "accountant":
			w.Header().Set("X-WP-Total", "1")
			_, _ = w.Write([]byte(`[{"id":7}]`))
		default:
			w.Header().Set("X-WP-Total", total)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`[]`))
		}
	}))
	defer server.Close()
	const matcher = "W15 the configuration: the matcher rest_call GET /feed/v1/items names /feed/v1/items, which the REST root of the site does not list: mend the route, or remove the line\n"
	const role = "W15 Caddyfile:8: allow role wholesale,editor,accountant /wp/v2/posts names the role wholesale, which nobody on the site has: mend the name of the role, or remove it\n"
	const header = "Authorization: Basic eDp5"
	for _, test := range []struct {
		args   []string
		total  string
		status int
		want   string
		asks   int
	}{
		{nil, "0", 200, "W16 Caddyfile:9: ", 0},
		{[]string{"--live", server.URL}, "0", 200, matcher, 1},
		{[]string{"--live", server.URL, "-H", header}, "0", 200, matcher + role, 3},
		{[]string{"--live", server.URL + "/?rest_route=/", "-H", header}, "0", 200, matcher + role, 3},
		{[]string{"--live", server.URL, "-H", header}, "", 200, matcher, 3},  // it does not say how many
		{[]string{"--live", server.URL, "-H", header}, "0", 403, matcher, 3}, // nobody may ask
	} {
		asked, total, status = nil, test.total, test.status
		out, problems, err := check(t, test.args...)
		if err != nil || problems != "" || out != test.want && (test.args != nil || !strings.HasPrefix(out, test.want)) {
			t.Errorf("%v: %v %s, got\n%s", test.args, err, problems, out)
		}
		if len(asked) != test.asks {
			t.Errorf("%v: asked %q", test.args, asked)
		}
		for _, request := range asked {
			if !strings.HasPrefix(request, "GET ") || strings.HasSuffix(request, " Basic eDp5") != (len(test.args) > 2) {
				t.Errorf("%v: %s", test.args, request)
			}
		}
	}
	if want := "GET /?per_page=1&rest_route=%2Fwp%2Fv2%2Fusers&roles=wholesale Basic eDp5"; !asks(t, server.URL+"/?rest_route=/", header, &asked, want) {
		t.Errorf("%q", asked)
	}
}

func asks(t *testing.T, address, header string, asked *[]string, want string) bool {
	t.Helper()
	*asked = nil
	if _, _, err := check(t, "--live", address, "-H", header); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.Join(*asked, "\n"), want)
}

// TestCheck_OtherSite: a root is judged with the site that it is of, by its own word or by the
// address. Of several sites none is guessed.
func TestCheck_OtherSite(t *testing.T) {
	inFile(t, siteFile)
	const routes = `"namespaces":["wp/v2"],"routes":{"/":{},"/wp/v2/posts":{}}}`
	for home, want := range map[string]string{
		"https://blog.example.com":     "allow anyone GET /nothing/of/the/shop names",
		"https://www.shop.example.com": "rest_call GET /feed/v1/items names",
	} {
		if err := os.WriteFile("root.json", []byte(`{"home":"`+home+`",`+routes), 0o600); err != nil {
			t.Fatal(err)
		}
		out, problems, status := command.Run(nil, "check", "--index", "root.json")
		if status != 0 || problems != "" || !strings.Contains(out, want) || strings.Count(out, "feed/v1")+strings.Count(out, "other/v1")+strings.Count(out, "/nothing/") == 0 ||
			strings.Contains(out, "blog") || strings.Contains(out, "/feed/") == strings.Contains(out, "/nothing/") {
			t.Errorf("%s: exit status %d\n%s\n%s", home, status, out, problems)
		}
	}
	if err := os.WriteFile("root.json", []byte(`{"home":"https://staging.example.com",`+routes), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, problems, status := command.Run(nil, "check", "--index", "root.json"); status != 2 || out != "" || !strings.Contains(problems, "none of the sites of the configuration is the one of the REST root: the root is of ") || !strings.Contains(problems, "name one with --site") {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
	inFile(t, plainFile) // the only site is the one
	if err := os.WriteFile("root.json", []byte(`{"home":"https://staging.example.com",`+routes), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, problems, status := command.Run(nil, "check", "--index", "root.json", "--strict"); status != 0 || out != "nothing odd\n" {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}

// TestCheck_SiteFails: a root that cannot be read is no answer.
func TestCheck_SiteFails(t *testing.T) {
	inFile(t, plainFile)
	closed := httptest.NewServer(http.NotFoundHandler())
	defer closed.Close()
	for _, test := range []struct {
		args, want string
		status     int
	}{
		{"--live " + closed.URL, "there is no REST root", 3},
		{"--live shop", `"shop" is no address`, 2},
		{"--site shop.example.com", "name the root with --live or --index", 2},
		{"--index nowhere.json", "nowhere.json", 2},
		{"--index root.json --live " + closed.URL, "not both", 2},
	} {
		out, problems, status := command.Run(nil, append([]string{"check"}, strings.Fields(test.args)...)...)
		if status != test.status || out != "" || !strings.Contains(problems, test.want) {
			t.Errorf("%s: exit status %d\n%s\n%s", test.args, status, out, problems)
		}
	}
}

// TestCheck_SiteFormats: W15 to W17 are in JSON and SARIF as any other.
func TestCheck_SiteFormats(t *testing.T) {
	inFile(t, "shop.example.com {\n\trestwarden wordpress {\n\t\tspool_dir {env.PWD}\n\t\tspool_limit 1MiB\n\t\tlogin_only\n\t\tallow plugin polylang buddypress\n"+
		"\t\tallow anyone POST /*/v1/**\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n")
	const root = `{"namespaces":["learnpress/v1"],"routes":{"/":{},"/learnpress/v1/token":{}}}`
	if err := os.WriteFile("root.json", []byte(root), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, err := check(t, "--index", "root.json", "--format", "json")
	var result struct{ Findings, Notes []odd }
	if err != nil || json.Unmarshal([]byte(out), &result) != nil || len(result.Findings) != 2 || len(result.Notes) != 1 {
		t.Fatalf("%v %s %s", err, problems, out)
	}
	for code, o := range map[string]odd{"W15": result.Findings[0], "W16": result.Findings[1], "W17": result.Notes[0]} {
		if o.Code != code || o.At == "" || o.Problem == "" || o.Do == "" {
			t.Errorf("%s: %+v", code, o)
		}
	}
	levels := map[string]string{}
	for _, r := range sarif(t, "--index", "root.json").Runs[0].Results {
		levels[r.RuleID] = r.Level
	}
	if len(levels) != 3 || levels["W15"] != "warning" || levels["W16"] != "warning" || levels["W17"] != "note" {
		t.Errorf("%v", levels)
	}
}

// TestCheck_SiteNamed: --site says whose root it is, whatever the root says of its home.
func TestCheck_SiteNamed(t *testing.T) {
	inFile(t, "a.example.com {\n\trestwarden wordpress {\n\t\tallow users /gone/v1/x\n\t}\n\treverse_proxy 127.0.0.1:9\n}\nb.example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8\n}\n")
	if err := os.WriteFile("root.json", []byte(`{"home":"https://staging.example.com","namespaces":["wp/v2"],"routes":{"/":{},"/wp/v2/posts":{}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		site, want string
		status     int
	}{
		{"", "the root is of staging.example.com, the configuration has a.example.com, b.example.com: name one with --site", 2},
		{"a.example.com", "/gone/v1/x", 0},
		{"c.example.com", "the root is of c.example.com", 2},
	} {
		out, problems, status := command.Run(nil, "check", "--index", "root.json", "--site", test.site)
		if status != test.status || !strings.Contains(out+problems, test.want) {
			t.Errorf("%s: exit status %d\n%s\n%s", test.site, status, out, problems)
		}
	}
}
