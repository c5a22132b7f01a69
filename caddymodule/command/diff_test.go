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

// pluginRoot is the REST root of a site with one plugin.
const pluginRoot = `{"namespaces":["acme/v1"],"routes":{"/acme/v1/(?P<name>[a-z]+)":{"namespace":"acme/v1","methods":["GET"],"endpoints":[{"methods":["GET"]}]}}}`

// twoConfigurations writes two Caddyfiles into the working directory, and returns their names. Beside them is the REST root of a
// plugin.
func twoConfigurations(t *testing.T, old, now string) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"Caddyfile.old": old, "Caddyfile": now, "root.json": pluginRoot, "empty.json": `{"apps":{"http":{"servers":{"s":{"listen":[":80"]}}}}}`, "old.txt": old} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"Caddyfile.old", "Caddyfile"}
}

// TestDocs_Diff: the page shows what the command prints, and its commands run.
func TestDocs_Diff(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands/diff.md")
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
// TestDiff: what a change does is in the report, and in the exit status.
func TestDiff(t *testing.T) {
	for name, tt := range diffs {
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

// TestDiff_Choice: sites that are not named do not count, and with the URL of a site only routes of its REST root.
func TestDiff_Choice(t *testing.T) {
	two := func(line string) string {
		of := shop("login_only", line)
		return of + strings.NewReplacer("shop.", "blog.", "login_only", "login_only\n\t\ttag blogs").Replace(of) + strings.Replace(loginShop, "shop.", "x.", 1)
	}
	for flag, want := range map[string]string{"--site=blog.*": "[blog.example.com]", "--site=*": "[shop.example.com blog.example.com]", "--site=x.example.com": "[]", "--tag=blogs": "[blog.example.com]"} {
		report, status := diffed(t, two("allow users /a/b"), two("allow anyone /a/b"), flag)
		if got := fmt.Sprint(report.Sites.Changed); status != 0 || got != want {
			t.Errorf("%s: %d, %s", flag, status, got)
		}
	}
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, pluginRoot)
	}))
	t.Cleanup(live.Close)
	for route, want := range map[string]int{"/acme/v1/x": 1, "/acme/v2/x": 0} {
		report, status := diffed(t, loginShop, shop("login_only", "allow anyone GET "+route), "--for", live.URL)
		if status != 0 || len(report.Changes) != want {
			t.Errorf("%s: %d, %+v", route, status, report.Changes)
		}
	}
}

// TestDiff_Tags: sites of one snippet have tags of their own, and another tag is no change of what is decided.
func TestDiff_Tags(t *testing.T) {
	sites := func(tag, line string) string {
		text := "(rw) {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\t" + line + "\n\t\t{block}\n\t}\n\treverse_proxy 127.0.0.1:1\n}\n"
		for _, host := range []string{"a", "b", "c"} {
			block := map[string]string{"a": "tag first", "b": "tag " + tag}[host]
			text += "http://" + host + ".example.com {\n\timport rw {\n\t\t" + block + "\n\t}\n}\n"
		}
		return text + "http://a.example.com:8081 {\n\timport rw {\n\t\ttag port\n\t}\n}\n" // the same site
	}
	for flag, want := range map[string]string{"--tag=port": "[a.example.com]", "--tag=shops": "[b.example.com]", "--tag=blogs": "[b.example.com]", "--tag=first": "[a.example.com]", "--site=*": "[a.example.com b.example.com c.example.com]"} {
		report, status := diffed(t, sites("shops", "allow users /a/b"), sites("blogs", "allow anyone /a/b"), flag)
		if got := fmt.Sprint(report.Sites.Changed); status != 0 || got != want {
			t.Errorf("%s: %d, %s", flag, status, got)
		}
	}
	retagged := strings.Replace(sites("blogs", "allow users /a/b"), "tag first", "tag last", 1)
	if report, status := diffed(t, sites("shops", "allow users /a/b"), retagged, "--fail-on=any"); status != 0 {
		t.Errorf("%d, %+v", status, report.Beside)
	}
}

// TestDiff_Both: what --fail-on names goes before a site that cannot be compared.
func TestDiff_Both(t *testing.T) {
	blog := strings.Replace(loginShop, "shop.", "blog.", 1)
	now := strings.Replace(loginShop, "wordpress", "cms", 1) + strings.Replace(blog, "login_only", "", 1)
	report, status := diffed(t, loginShop+blog, now, "--fail-on", "opened")
	if status != 1 || len(report.Sites.NotCompared) != 1 || len(report.Changes) == 0 {
		t.Errorf("%d, %+v", status, report)
	}
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
