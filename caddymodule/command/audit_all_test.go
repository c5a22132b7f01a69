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
	"sync"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/audit"
)

// host serves a saved root to every host, and notes what is asked of which.
func host(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	root, err := os.ReadFile(savedRoot)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf("%s %s://%s%s", r.Method, r.Header.Get("X-Forwarded-Proto"), r.Host, r.URL))
		_, _ = w.Write(root) // a client that is gone shows in the test
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), func() []string {
		mu.Lock()
		defer mu.Unlock()
		found := all
		all = nil
		return found
	}
}

// manyConfig has a site behind a folder, one that is closed, one of a wildcard with two directives, and one whose backend is down.
const manyConfig = `(rw) {
	restwarden wordpress {
		login_only
		{block}
	}
	reverse_proxy %[1]s
}
a.example.com {
	import rw {
		allow plugin woocommerce
		tag shops
	}
}
b.example.com {
	handle /blog* {
		restwarden wordpress {
			base /blog
			tag shops
		}
		reverse_proxy %[1]s
	}
}
*.c.example.com {
	@other method DELETE
	route {
		restwarden @other wordpress
		import rw
	}
}
down.example.com {
	restwarden wordpress
	reverse_proxy 127.0.0.1:1
}
`

// several runs the command, and returns its output by lines.
func several(t *testing.T, want int, args ...string) (lines []string, problems string) {
	t.Helper()
	out, problems, status := command.Run(strings.NewReader(""), append([]string{"audit"}, args...)...)
	if status != want {
		t.Fatalf("%q: %d, want %d: %s", args, status, want, problems)
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), problems
}

// TestAudit_All: each root is read once, behind the directive and for its own host, and each report is that of the site alone. A site
// that cannot be read does not keep the others from being told.
func TestAudit_All(t *testing.T) {
	backend, asked := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(manyConfig, backend))
	lines, problems := several(t, 3, "--all", "--config", config, "--format", "json")
	want := []string{"GET https://a.example.com/wp-json/", "GET https://any.c.example.com/wp-json/", "GET https://b.example.com/blog/wp-json/"}
	if got := asked(); !slices.Equal(slices.Sorted(slices.Values(got)), want) || problems != "" {
		t.Errorf("%q %s", got, problems)
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if strings.Contains(line, `"down.example.com"`) {
			if !strings.HasPrefix(line, `{"v":1,"site":"down.example.com","address":"https://down.example.com","error":"`) || !strings.Contains(line, "its backend: dial tcp 127.0.0.1:1") {
				t.Error(line)
			}
			continue
		}
		report, err := audit.Read([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		alone := auditJSON(t, "--config", config, "--site", report.Site, "--index", savedRoot)
		report.Address = ""
		if got, want := compact(t, report), compact(t, alone); got != want {
			t.Errorf("%s: of all\n%s\nalone\n%s", report.Site, got, want)
		}
	}
}

func compact(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAudit_Choice: which sites are meant, and what is told of them.
func TestAudit_Choice(t *testing.T) {
	backend, asked := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(manyConfig, backend))
	for _, test := range []struct {
		args, sites, says string
		status            int
	}{
		{"--all", "*.c.example.com a.example.com b.example.com/blog down.example.com", "", 3},
		{"--tag shops", "a.example.com b.example.com/blog", "", 0},
		{"--site b.* --site a.example.com", "a.example.com b.example.com/blog", "", 0},
		{"--site down.example.com --tag shops --fail-on anonymous-write", "a.example.com b.example.com/blog down.example.com", "b.example.com/blog: fails anonymous-write: ", 1},
		{"--site a.example.com", "a.example.com", "", 0},
		{"--site z.example.com", "", `no site is called "z.example.com": did you mean `, 2},
		{"--tag shop", "", `no site has the tag "shop": did you mean shops?`, 2},
		{"--all --diff old.json", "", "--diff: of several sites it is for --fail-on", 2},
		{"--all --fail-on new-route --diff old.json", "", "--diff: open old.json", 2},
		{"--all --fail-on new-route --diff " + config, "", "line 1 is no report of a site", 2},
		{"--all --tag shops", "", "--all is all sites", 2},
		{"--all --html=", "", "--html names nothing: is a variable empty?", 2},
		{"--all --html one.html", "", "--html: for several sites it names a directory, such as one", 2},
		{"--all -H A:b", "", "--header is for one site", 2},
		{"--tag shops https://a.example.com", "", "a URL or a saved REST root is one site's", 2},
		{"--site a.example.com --site b.example.com/blog --index " + savedRoot, "", "a URL or a saved REST root is one site's", 2},
		{"--all --html " + config, "", "not a directory", 2},
		{"--tag shops --fail-on nonsense", "", "--fail-on: ", 2},
	} {
		out, problems, status := command.Run(strings.NewReader(""), append([]string{"audit", "--config", config}, strings.Fields(test.args)...)...)
		var sites []string
		for line := range strings.Lines(out) {
			if site, _, more := strings.Cut(line, "  "); more && site != "SITE" {
				sites = append(sites, site)
			}
		}
		slices.Sort(sites)
		if status != test.status || strings.Join(sites, " ") != test.sites || !strings.Contains(problems, test.says) || test.says == "" && problems != "" {
			t.Errorf("%s: %d %q\n%s%s", test.args, status, sites, out, problems)
		}
		if sent := asked(); test.status == 2 && len(sent) > 0 {
			t.Errorf("%s: %q", test.args, sent)
		}
	}
	empty := write(t, "Caddyfile", "a.example.com {\n\trespond 200\n}\n")
	if _, problems := several(t, 2, "--all", "--config", empty); !strings.Contains(problems, "the configuration guards no site") {
		t.Error(problems)
	}
}

// TestAudit_Pages: each site that was read has a page, and the index leads to all of them.
func TestAudit_Pages(t *testing.T) {
	backend, _ := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(manyConfig, backend)+"http://index {\n\timport rw\n}\nhttp://a.example.com:8081 {\n\trestwarden wordpress\n\treverse_proxy "+backend+"\n}\n")
	pages := filepath.Join(t.TempDir(), "new", "pages")
	lines, _ := several(t, 3, "--all", "--config", config, "--html", pages)
	index, err := os.ReadFile(filepath.Join(pages, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(pages, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names, linked []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	for _, m := range regexp.MustCompile(`<a href="([^"]+)">`).FindAllSubmatch(index, -1) {
		linked = append(linked, string(m[1]))
	}
	slices.Sort(linked)
	want := []string{"_.c.example.com.html", "a.example.com-2.html", "a.example.com.html", "b.example.com_blog.html", "down.example.com.html", "index-2.html"}
	if !slices.Equal(linked, want) || !slices.Equal(names, append(want, "index.html")) {
		t.Errorf("%q, linked %q", names, linked)
	}
	if down, err := os.ReadFile(filepath.Join(pages, "down.example.com.html")); err != nil || !bytes.Contains(down, []byte("could not be read")) {
		t.Errorf("%v %s", err, down)
	}
	if !bytes.Contains(index, []byte(`<b id="unread">1</b>`)) || bytes.Contains(index, []byte("<script")) || len(lines) < 8 {
		t.Errorf("%s\n%q", index, lines)
	}
	one, err := os.ReadFile(filepath.Join(pages, "b.example.com_blog.html"))
	if err != nil || !bytes.Contains(one, []byte("What strangers can reach on b.example.com/blog")) {
		t.Errorf("%v: %.300s", err, one)
	}
}

// TestAudit_PublicAddress: where the configuration has nothing behind a directive that can be asked, the site's own address is.
func TestAudit_PublicAddress(t *testing.T) {
	address, asked := host(t)
	config := write(t, "Caddyfile", "http://"+address+" {\n\trestwarden wordpress\n\trespond 200\n}\n")
	lines, _ := several(t, 0, "--all", "--config", config)
	if got := asked(); !slices.Equal(got, []string{"GET ://" + address + "/wp-json/"}) || len(lines) != 2 || !strings.Contains(lines[1], "  open   ") {
		t.Errorf("%q %q", got, lines)
	}
	away := httptest.NewServer(http.RedirectHandler("http://"+strings.Replace(address, "127.0.0.1", "localhost", 1)+"/wp-json/", http.StatusFound))
	t.Cleanup(away.Close)
	config = write(t, "Caddyfile", away.URL+" {\n\trestwarden wordpress\n\trespond 200\n}\n")
	lines, _ = several(t, 3, "--all", "--config", config)
	if want := "127.0.0.1: " + away.URL + " redirects to http://localhost:"; len(lines) != 3 || !strings.HasPrefix(lines[2], want) {
		t.Errorf("%q, want %s", lines, want)
	}
}

// TestAudit_AllUncertain: where calls may pass the rules, or nothing is refused, the table says so and why.
func TestAudit_AllUncertain(t *testing.T) {
	backend, _ := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(`http://past.example.com:8081 {
	restwarden wordpress {
		login_only
	}
	reverse_proxy %[1]s
}
http://past.example.com:8082 {
	reverse_proxy %[1]s
}
http://observed.example.com:8083 {
	restwarden wordpress {
		mode observe
		login_only
	}
	reverse_proxy %[1]s
}
`, backend))
	lines, _ := several(t, 0, "--all", "--config", config)
	table := strings.Join(lines, "\n")
	for _, want := range []string{
		`(?m)^past\.example\.com      login_only    157        0\+    0\+           0\+     43 +7$`, `(?m)^past\.example\.com: Calls may reach the site past the rules, W01 at `,
		`(?m)^observed\.example\.com  not enforced  157 `, `(?m)^observed\.example\.com: Nothing is refused: mode observe \(`,
	} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("no %s in\n%s", want, table)
		}
	}
	if _, problems := several(t, 3, "--site", "past*", "--config", config, "--fail-on", "known-hole"); !strings.Contains(problems, "past.example.com: cannot be known: known-hole: calls may pass the rules, see the notes") {
		t.Error(problems)
	}
}

// TestAudit_AllPorts: what directives on another port open is not counted. A site whose address nobody knows is told.
func TestAudit_AllPorts(t *testing.T) {
	backend, _ := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(`closed.example.com {
	restwarden wordpress {
		login_only
	}
	reverse_proxy %[1]s
}
posts.example.com {
	@posts method POST
	restwarden @posts wordpress
	reverse_proxy %[1]s
}
http://:8099 {
	restwarden wordpress
	reverse_proxy %[1]s
}
`, backend))
	lines, problems := several(t, 3, "--site", "*.example.com", "--config", config, "--fail-on", "anonymous-write")
	table := strings.Join(lines, "\n")
	for _, want := range []string{`(?m)^closed\.example\.com  login_only  157        0     0 `, `(?m)^posts\.example\.com   unknown     -`, `(?m)^posts\.example\.com: no request for its REST root .*Caddyfile:9: name an address`} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("no %s in\n%s", want, table)
		}
	}
	if problems != "" {
		t.Error(problems)
	}
}

// TestAudit_AllDiff: what is new at one of several sites fails, and of a site without an earlier report nothing is said.
func TestAudit_AllDiff(t *testing.T) {
	backend, _ := host(t)
	config := write(t, "Caddyfile", fmt.Sprintf(manyConfig, backend))
	lines, _ := several(t, 3, "--all", "--config", config, "--format", "json")
	same := strings.Join(lines, "\n") + "\n"
	for i, line := range lines {
		var report map[string]any
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatal(err)
		}
		if report["site"] != "b.example.com/blog" {
			continue
		}
		report["routes"] = slices.DeleteFunc(report["routes"].([]any), func(r any) bool { return r.(map[string]any)["namespace"] == "contact-form-7/v1" })
		lines[i] = compact(t, report)
	}
	less := strings.Join(lines, "\n")
	const kinds = "new-anonymous-write,new-route"
	for _, test := range []struct {
		earlier, args, says string
		status              int
	}{
		{same, "--tag shops", "", 0},
		{less, "--tag shops", "b.example.com/blog: fails new-anonymous-write: ", 1},
		{less, "--site a.example.com", "", 0},
		{same, "--site down.example.com", "", 3},
		{lines[0] + "\n", "--site b.example.com/blog", "b.example.com/blog: cannot be known: new-route: the earlier run has no report of the site", 3},
	} {
		args := append([]string{"--config", config, "--fail-on", kinds, "--diff", write(t, "old.json", test.earlier)}, strings.Fields(test.args)...)
		if _, problems := several(t, test.status, args...); !strings.Contains(problems, test.says) || test.says == "" && problems != "" {
			t.Errorf("%s: %s", test.args, problems)
		}
	}
}
