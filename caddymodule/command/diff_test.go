package command_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/compare"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// twoConfigurations writes two Caddyfiles into the working directory, and returns their names. Beside them is the REST root of a
// plugin.
func twoConfigurations(t *testing.T, old, now string) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	root := `{"namespaces":["acme/v1"],"routes":{"/acme/v1/(?P<name>[a-z]+)":{"namespace":"acme/v1","methods":["GET"],"endpoints":[{"methods":["GET"]}]}}}`
	for name, text := range map[string]string{"Caddyfile.old": old, "Caddyfile": now, "root.json": root, "empty.json": `{"apps":{"http":{"servers":{"s":{"listen":[":80"]}}}}}`, "old.txt": old} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"Caddyfile.old", "Caddyfile"}
}

// TestDocs_Diff: the page shows what the command prints, and its commands run.
func TestDocs_Diff(t *testing.T) {
	page, err := os.ReadFile("../../docs/diff.md")
	if err != nil {
		t.Fatal(err)
	}
	var configurations []string
	for _, part := range strings.Split(string(page), "```caddyfile\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		configurations = append(configurations, text)
	}
	if len(configurations) != 2 {
		t.Fatalf("the page has %d configurations", len(configurations))
	}
	names := twoConfigurations(t, configurations[0], configurations[1])
	out, problems, status := command.Run(nil, append([]string{"diff"}, names...)...)
	if status != 0 || !strings.Contains(string(page), "```text\n"+out+"```\n") {
		t.Errorf("%d %s\nthe page has no\n%s", status, problems, out)
	}
	if err := os.Mkdir("old", 0o700); err != nil { // the workflow's work tree
		t.Fatal(err)
	}
	if err := os.Rename("Caddyfile.old", "old/Caddyfile"); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(page)) {
		_, words, ok := strings.Cut(line, "run: caddy restwarden ")
		if !ok {
			continue
		}
		words, _, _ = strings.Cut(words, " > ")
		ran++
		out, problems, status := command.Run(nil, strings.Fields(words)...)
		if want := map[bool]int{true: 1}[strings.Contains(words, "--fail-on opened")]; status != want || !strings.Contains(strings.ToLower(out), "opened") {
			t.Errorf("%q: %d, %s%s", words, status, problems, out)
		}
	}
	if ran != 2 {
		t.Errorf("%d commands of the workflow ran", ran)
	}
}

// diffed returns the report of a change of the lines of one site.
func diffed(t *testing.T, old, now string, flags ...string) (*compare.Report, int) {
	t.Helper()
	args := append([]string{"diff", "--format", "json"}, append(flags, twoConfigurations(t, old, now)...)...)
	out, problems, status := command.Run(nil, args...)
	report := new(compare.Report)
	if err := json.Unmarshal([]byte(out), report); err != nil && status < 2 {
		t.Fatalf("%d, %s: %v\n%s", status, problems, err, out)
	}
	return report, status
}

func shop(lines ...string) string {
	return "shop.example.com {\n\trestwarden wordpress {\n" + strings.Join(lines, "\n") + "\n}\n\treverse_proxy 127.0.0.1:8080\n}\n"
}

// TestDiff: what changes of each kind are told as.
// at is a site whose directive gets the requests of a path alone.
func at(path string) string {
	return "shop.example.com {\n\trestwarden " + path + " wordpress {\nlogin_only\n}\n\treverse_proxy 127.0.0.1:8080\n}\n"
}

// nested are two sites of a snippet in a snippet; the first one has another body_limit.
func nested(limit string) string {
	return "(inner) {\nrestwarden wordpress {\nlogin_only\nbody_limit {args[0]}\n}\n}\n(outer) {\nimport inner {args[0]}\n}\n" +
		"a.example.com {\nimport outer " + limit + "\nreverse_proxy 127.0.0.1:8080\n}\nb.example.com {\nimport outer 1000\nreverse_proxy 127.0.0.1:8080\n}\n"
}

// handles is a site with a directive for each of two paths and one for the rest.
func handles(one, two, rest string) string {
	guard := func(lines string) string {
		return "restwarden wordpress {\n" + lines + "\n}\nreverse_proxy 127.0.0.1:8080\n"
	}
	return "shop.example.com {\nhandle /wp-json/p1/* {\n" + guard(one) + "}\nhandle /wp-json/p2/* {\n" + guard(two) + "}\nhandle {\n" + guard(rest) + "}\n}\n"
}

// ports is a host with a directive on each of three ports.
func ports(lines ...string) (text string) {
	for i, line := range lines {
		text += fmt.Sprintf("http://shop.example.com:808%d {\nrestwarden wordpress {\n%s\n}\nreverse_proxy 127.0.0.1:9000\n}\n", i, line)
	}
	return text
}

// files is a site that serves files but for one.
func files(text, hidden string) string {
	return strings.Replace(text, "reverse_proxy 127.0.0.1:8080", "php_fastcgi 127.0.0.1:9000\n\tfile_server {\n\thide "+hidden+"\n\t}", 1)
}

func TestDiff(t *testing.T) {
	login := shop("login_only")
	for name, tt := range map[string]struct {
		old, now string
		flags    []string
		want     string // the effects of calls, those beside, and the status
	}{
		"nothing":              {login, login, []string{"--fail-on", "any"}, "0"},
		"a comment":            {login, "# why\n" + login, []string{"--fail-on", "any"}, "0"},
		"a line":               {login, shop("login_only", "allow anyone POST /acme/v1/x"), []string{"--fail-on", "opened"}, "opened 1"},
		"without it":           {shop("login_only", "allow anyone POST /acme/v1/x"), login, []string{"--fail-on", "opened"}, "closed 0"},
		"a line that does not": {shop("allow anyone /a/**"), shop("allow anyone /a/**", "deny /a/b"), []string{"--fail-on", "any"}, "0"},
		"the same in other words": {
			shop("login_only", "allow anyone GET /a/b", "allow anyone POST /a/b"), shop("login_only", "allow anyone GET,POST /a/b"), []string{"--fail-on", "any"}, "0",
		},
		"a condition": {
			shop("login_only", "allow anyone POST /a/b"), shop("login_only", "allow anyone POST /a/b {\nonly x\n}"), []string{"--fail-on", "closed"}, "may_close 1",
		},
		"another condition": {
			shop("allow users POST /a/b {\nonly x\n}"), shop("allow users POST /a/b {\nonly y\n}"), nil, "may_close may_open 0",
		},
		"a name":                                {shop("allow users /a/*"), shop("allow users /a/:id"), nil, "may_close 0"},
		"a policy that is on by default, again": {shop("order_type off"), shop(), []string{"--fail-on", "closed"}, "beside:may_close 1"},
		"another on_error by default":           {shop(), shop("order_type {\non_error pass\n}"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
		"the directive's mode again": {
			shop("mode observe", "rate_limit 1/1m /a/b", "rate_limit {\nmode enforce\n}"), shop("mode observe", "rate_limit 1/1m /a/b"), []string{"--fail-on", "opened"}, "beside:may_open 1",
		},
		"a matcher of a directive without a root": {at("/wp-json/acme/*"), at("/wp-json/foo/*"), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
		"the arguments of a snippet in a snippet": {nested("1000"), nested("3000"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
		"a base": {login, shop("base /blog", "login_only"), []string{"--fail-on", "closed"}, "beside:may_open,may_close removed renamed 1"},
		"a host of a site that goes on": {
			strings.Replace(shop("allow anyone /a/b"), "shop.example.com {", "a.example.com, b.example.com {", 1),
			strings.Replace(login, "shop.example.com {", "b.example.com {", 1) + "a.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n",
			[]string{"--fail-on", "closed"},
			"closed removed renamed 1",
		},
		"handles that change places":   {handles("login_only", "", ""), handles("", "login_only", ""), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
		"directives on several ports":  {ports("login_only", "", "login_only"), ports("login_only", "login_only", ""), []string{"--fail-on", "opened"}, "closed opened 1"},
		"a parameter that is stripped": {shop(), shop("strip_query lang /a/b"), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
		"a key beside the shop": {
			shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders /wp/v2/posts\n}"), []string{"--fail-on", "opened"}, "opened 1",
		},
		"a scope beside others": {
			shop("scope all {\nkey *\nallow /wc/**\nrate 5/1m\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/**\n}", "scope all {\nkey *\nallow /wc/**\nrate 5/1m\n}"), []string{"--fail-on", "opened"}, "may_close may_open beside:may_open,may_close 1",
		},
		"the file's own name":     {files(login, "a"), files(login, "b"), []string{"--fail-on", "any"}, "0"},
		"a header of answers":     {login, strings.Replace(login, "\trestwarden", "\theader X-A b\n\tencode gzip\n\trestwarden", 1), []string{"--fail-on", "any"}, "0"},
		"a header of requests":    {login, strings.Replace(login, "\trestwarden", "\trequest_header X-HTTP-Method-Override DELETE\n\trestwarden", 1), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
		"an order of limits":      {shop("rate_limit 5/1m /a/b", "rate_limit 6/1m /c/d"), shop("rate_limit 6/1m /c/d", "rate_limit 5/1m /a/b"), []string{"--fail-on", "any"}, "0"},
		"a journal":               {login, shop("login_only", "journal writes"), []string{"--fail-on", "opened,closed"}, "beside: 0"},
		"a second name of a site": {login, strings.Replace(login, "shop.example.com {", "shop.example.com, www.example.com {", 1), []string{"--fail-on", "any"}, "0"},
		"observe":                 {login, shop("login_only", "mode observe"), []string{"--fail-on", "closed"}, "opened beside:may_open 0"},
		"a limit":                 {shop("rate_limit 5/1m /a/b"), shop("rate_limit 9/1m /a/b"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
		"a guard off":             {shop("order_type"), shop("order_type off"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
		"on_error":                {shop("access {\non_error refuse\n}"), shop("access {\non_error pass\n}"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
		"an answer":               {shop(), shop("redact /wp/v2/posts title"), []string{"--fail-on", "any"}, "beside:may_open,may_close 1"},
		"a matcher":               {login, strings.Replace(login, "restwarden", "@x path /wp-json/*\n\trestwarden @x", 1), []string{"--fail-on", "opened"}, "may_open beside:may_open,may_close 1"},
		"an upstream":             {login, strings.Replace(login, "8080", "9090", 1), []string{"--fail-on", "any"}, "0"},
		"a dot":                   {shop(), shop("allow anyone /a.b/c"), nil, "beside:may_close 0"},
		"a word": {
			shop("allow anyone /wp/v2/plugins/*"), shop("allow anyone /wp/v2/plugins/*", "allow anyone GET /wp/v2/plugins/hello"), []string{"--fail-on", "closed"}, "beside:may_close 1",
		},
		"no word": {
			shop("allow anyone /acme/v1/*"), shop("allow anyone /acme/v1/*", "allow anyone GET /acme/v1/hello"), []string{"--fail-on", "any"}, "0",
		},
		"a word of a plugin": {
			shop("allow anyone /acme/v1/*", "allow anyone GET /acme/v1/hello"), shop("allow anyone /acme/v1/*"), []string{"--index", "root.json"}, "beside:may_open 0",
		},
		"a route that the site has not":  {shop("login_only"), shop("login_only", "allow anyone GET /acme/v2/x"), []string{"--index", "root.json", "--fail-on", "any"}, "0"},
		"a route that the site has":      {shop("login_only"), shop("login_only", "allow anyone GET /acme/v1/x"), []string{"--index", "root.json"}, "opened beside:may_close 0"},
		"a new site":                     {login, login + strings.ReplaceAll(login, "shop", "blog"), []string{"--fail-on", "opened,closed"}, "added 0"},
		"a new site that nothing guards": {login, login + "blog.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"--fail-on", "opened"}, "unguarded 1"},
		"a new redirect":                 {login, login + "blog.example.com {\n\tredir https://shop.example.com\n}\n", []string{"--fail-on", "any"}, "0"},
		"a guard":                        {"shop.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", login, []string{"--fail-on", "closed"}, "added 1"},
		"a site less":                    {login + strings.ReplaceAll(login, "shop", "blog"), login, []string{"--fail-on", "closed"}, "removed 1"},
		"a directive without a root": {
			strings.Replace(login, "restwarden", "@x path /wp-json/acme/*\n\trestwarden @x", 1),
			strings.Replace(shop("login_only", "allow anyone /acme/v1/x"), "restwarden", "@x path /wp-json/acme/*\n\trestwarden @x", 1),
			[]string{"--fail-on", "opened"},
			"beside:may_open,may_close 1",
		},
		"no gateway":   {login, "shop.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"--fail-on", "opened"}, "removed 1"},
		"another name": {login, strings.Replace(login, "shop.example.com", "www.example.com, shop.example.com", 1), []string{"--fail-on", "any"}, "renamed 1"},
		"a platform":   {login, strings.Replace(login, "wordpress", "cms", 1), nil, "not_compared 3"},
		"a scope": {
			shop("scope erp {\nkey a1b2c3d\nallow GET /wc/v3/orders\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders\nrate 5/1h\n}"), nil, "opened beside:may_open,may_close 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report, status := diffed(t, tt.old, tt.now, tt.flags...)
			if got := inShort(report, status); got != tt.want {
				t.Errorf("got %q, want %q: %+v", got, tt.want, report)
			}
		})
	}
}

// TestDiff_Secrets: no report has a secret of a configuration; that one has changed is told.
func TestDiff_Secrets(t *testing.T) {
	const shopKey, hook = "ck_0123456789abcdef0123456789abcdef01234567:cs_", "https://hooks.example.com/T0000/"
	lines := func(n string) string {
		return shop("order_type {\ncredential "+shopKey+strings.Repeat(n, 40)+"\n}", "allow signed erp POST /acme/v1/hook", "signature erp {\nscheme request\nonce\nkey "+strings.Repeat("k"+n, 20)+"\n}",
			"abilities {\nallow shop/*\nconfirm shop/*\nnotify "+hook+n+"\n}")
	}
	for _, format := range []string{"text", "json", "markdown"} {
		out, problems, status := command.Run(nil, append([]string{"diff", "--format", format, "--fail-on", "any"}, twoConfigurations(t, lines("1"), lines("2"))...)...)
		if status != 1 || strings.Count(out, "secret ") != 6 {
			t.Errorf("%d, %s%s", status, problems, out)
		}
		for _, secret := range []string{strings.Repeat("1", 20), strings.Repeat("2", 20), strings.Repeat("k1", 3), strings.Repeat("k2", 3), "T0000"} {
			if strings.Contains(out, secret) {
				t.Errorf("%s has %s:\n%s", format, secret, out)
			}
		}
	}
	names := twoConfigurations(t, lines("1"), strings.Replace(lines("1"), hook+"1", "{env.RESTWARDEN_HOOK}", 1))
	t.Setenv("RESTWARDEN_HOOK", hook+"3")
	if out, problems, _ := command.Run(nil, append([]string{"diff"}, names...)...); !strings.Contains(out, "{env.RESTWARDEN_HOOK}") || strings.Contains(out, "T0000") {
		t.Error(out, problems)
	}
}

// TestDiff_Answered: what certainly opens at one site only may at another one, where something answers before the directive.
func TestDiff_Answered(t *testing.T) {
	of := func(line string) string {
		return "(common) {\n\trestwarden wordpress {\n\t\tlogin_only\n" + line + "\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\na.example.com {\n\timport common\n}\n" +
			"b.example.com {\n\troute {\n\t\trespond /wp-json/acme/* 418\n\t\timport common\n\t}\n}\n"
	}
	report, status := diffed(t, of(""), of("allow anyone /acme/v1/x"))
	if len(report.Changes) != 2 || report.Changes[0].Effect != "opened" || report.Changes[1].Effect != "may_open" || status != 0 {
		t.Errorf("%d, %+v", status, report.Changes)
	}
}

// inShort writes a report in a few words.
func inShort(r *compare.Report, status int) string {
	words := map[string]bool{}
	for _, c := range r.Changes {
		words[string(c.Effect)] = true
	}
	var list []string
	for _, effect := range []string{"closed", "may_close", "may_open", "opened"} {
		if words[effect] {
			list = append(list, effect)
		}
	}
	beside := map[string]bool{}
	for _, b := range r.Beside {
		var effects []string
		for _, e := range b.Effects {
			effects = append(effects, string(e))
		}
		if text := "beside:" + strings.Join(effects, ","); !beside[text] {
			beside[text] = true
			list = append(list, text)
		}
	}
	for name, n := range map[string]int{"added": len(r.Sites.Added), "removed": len(r.Sites.Removed)} {
		if n > 0 {
			list = append(list, name)
		}
	}
	if len(r.Sites.Unguarded) > 0 {
		list = append(list, "unguarded")
	}
	if len(r.Sites.Renamed) > 0 {
		list = append(list, "renamed")
	}
	if len(r.Sites.NotCompared) > 0 {
		list = append(list, "not_compared")
	}
	return strings.Join(append(list, string(rune('0'+status))), " ")
}

// TestDiff_BadInput: what is wrong on the command line, and what does not load, is said with status 2.
func TestDiff_BadInput(t *testing.T) {
	names := twoConfigurations(t, shop("login_only"), shop("allow anyon /a/b"))
	fine := filepath.Join(".", names[0])
	for line, want := range map[string]string{
		"diff":                                             "name two configurations",
		"diff " + fine:                                     "name two configurations",
		"diff --running " + fine + " b":                    "--running takes the place of OLD",
		"diff Caddyfile.old Caddyfile":                     "did you mean anyone",
		"diff Caddyfile.old none":                          "none",
		"diff --format xml a b":                            "--format",
		"diff --fail-on open a b":                          "did you mean opened",
		"diff --fail-on= a b":                              "--fail-on names nothing",
		"diff --address localhost:1 a b":                   "--address: only with --running",
		"diff -H a:b a b":                                  "--header: only with --for",
		"diff old.txt Caddyfile.old":                       "--adapter caddyfile",
		"diff empty.json ./empty.json":                     "neither configuration has the directive restwarden",
		"diff --index a --for b c d":                       "name the REST root once",
		"diff --site shp.example.com " + fine + " " + fine: "did you mean shop.example.com",
	} {
		if _, problems, status := command.Run(nil, strings.Fields(line)...); status != 2 || !strings.Contains(problems, want) {
			t.Errorf("%q: %d, %s", line, status, problems)
		}
	}
}

// TestDiff_Running: the configuration of the Caddy that runs takes the place of the old one, whatever adapter made it.
func TestDiff_Running(t *testing.T) {
	names := twoConfigurations(t, shop("login_only"), shop("login_only", "allow anyone POST /acme/v1/x"))
	running, err := dryrun.Adapt(names[0], "caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{"GET /config/": string(running), "GET /restwarden/sites": `{"v":1,"sites":[
			{"site":"shop.example.com","mode":"observe","mode_until":"2026-11-30T10:00:00Z"}, {"site":"old.example.com","lockdown":{"until":"2026-11-30T11:00:00Z"}},
			{"site":"shop.example.com","lockdown":{"until":"2026-11-30T12:00:00Z","all":true}}]}`}[r.Method+" "+r.URL.Path]
		if answer == "" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(nil, "diff", "--running", "--address", strings.TrimPrefix(admin.URL, "http://"), "--fail-on", "opened", names[1])
	if status != 1 || !strings.Contains(out, "Opened:\n  POST /acme/v1/x\n") {
		t.Errorf("%d, %s%s", status, problems, out)
	}
	for _, want := range []string{
		"shop.example.com: the switch observe, which is on until 2026-11-30T10:00:00Z, stays in force, whatever the configurations say.\n",
		"old.example.com: the switch lockdown, which is on until 2026-11-30T11:00:00Z, ends with the change (may open).\n",
		"all sites: the switch lockdown, which is on until 2026-11-30T12:00:00Z, stays",
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	admin.Close()
	if _, problems, status := command.Run(nil, "diff", "--running", "--address", strings.TrimPrefix(admin.URL, "http://"), names[1]); status != 2 || !strings.Contains(problems, "no Caddy answers at") {
		t.Errorf("%d, %s", status, problems)
	}
}
