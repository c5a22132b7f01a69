package testfile_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/logging"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

const root = "../../../"

// runFile runs a file of tests, against its own configuration if config is "".
func runFile(t *testing.T, path, config string) (*testfile.Report, error) {
	t.Helper()
	text, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	f, err := testfile.Read(path, text)
	if err != nil {
		t.Fatal(err)
	}
	if config == "" {
		config = f.Config
	}
	var index []byte
	if f.Index != "" {
		if index, err = os.ReadFile(f.Index); err != nil {
			t.Fatal(err)
		}
	}
	gateway, err := testfile.Load(dryrun.Options{File: config, Adapter: "caddyfile", Index: index})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := gateway.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &testfile.Runner{Gateway: gateway, Flags: " --config " + config}
	outcomes, err := r.Run(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return testfile.NewReport(outcomes, r.Untested()), nil
}

// TestExample: the tests of Caddyfile.example pass, and leave out no rule.
func TestExample(t *testing.T) {
	report, err := runFile(t, root+"docs/examples/shop.test.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Tests {
		if o.Status != testfile.Passed {
			t.Errorf("%s: %s", o.Position, o.Message())
		}
	}
	if len(report.Untested) > 0 {
		t.Errorf("no test for %v", report.Untested)
	}
}

var ruleLine = regexp.MustCompile(`^\t\t(?:login_only|(?:allow|deny) (.*))$`)

// TestExample_EveryRule: without any one rule of Caddyfile.example, or any one route of
// it, a test fails.
func TestExample_EveryRule(t *testing.T) {
	text, err := os.ReadFile(root + "Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	rules := 0
	for i, line := range lines {
		match := ruleLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		rules++
		failsWith(t, lines, i, "")
		var routes []string
		for word := range strings.FieldsSeq(match[1]) {
			if strings.HasPrefix(word, "/") {
				routes = append(routes, word)
			}
		}
		for _, route := range routes {
			if len(routes) > 1 {
				failsWith(t, lines, i, strings.Replace(line, " "+route, "", 1))
			}
		}
	}
	if rules != 8 {
		t.Errorf("%d rules", rules)
	}
}

// failsWith runs the tests of the example with another line i.
func failsWith(t *testing.T, lines []string, i int, line string) {
	t.Helper()
	changed := append(append(append([]string(nil), lines[:i]...), line), lines[i+1:]...)
	path := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(path, []byte(strings.Join(changed, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := runFile(t, root+"docs/examples/shop.test.yaml", path)
	if err != nil {
		t.Errorf("%q in place of %q: %v", line, lines[i], err)
		return
	}
	if report.Status() != 1 {
		t.Errorf("%q in place of %q: exit status %d", line, lines[i], report.Status())
	}
}

// TestNever_CounterExample: a running gateway lets a printed counter-example through.
func TestNever_CounterExample(t *testing.T) {
	var mu sync.Mutex
	var seen []string // without the gateway's questions
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Accept") != "application/json" {
			seen = append(seen, r.Method+" "+r.URL.RequestURI())
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(backend.Close)
	address := machine.FreeAddress(t)
	site := &caddyrun.File{Sites: []caddyrun.Site{{Address: address, Body: "\trestwarden wordpress {\n\t\tlogin_only\n\t\tallow anyone POST,PUT /contact/v1/:form/feedback\n" +
		"\t\tdeny /contact/v1/old/**\n\t\tallow anyone /contact/v2/**\n\t}\n\treverse_proxy " + strings.TrimPrefix(backend.URL, "http://")}}}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("Caddyfile", site.String())
	tests := write("a.test.yaml", strings.ReplaceAll(`config: Caddyfile
tests:
- never: { as: anonymous, calls: [POST, DELETE], routes: [/contact/v1/**], at: "http://ADDRESS" }
- never: { as: anonymous, calls: DELETE, routes: [/contact/v1/**], at: "http://ADDRESS" }
- never: { as: anonymous, routes: [/contact/v2/**], at: "http://ADDRESS" }
- always: { as: anonymous, calls: [PUT], routes: [/contact/v1/*/feedback], at: "http://ADDRESS" }
- always: { as: anonymous, calls: [PUT, PATCH], routes: [/contact/v1/*/feedback], at: "http://ADDRESS" }
`, "ADDRESS", address))
	report, err := runFile(t, tests, "")
	if err != nil {
		t.Fatal(err)
	}
	caddyrun.Start(t, site)
	for i, want := range []testfile.Status{testfile.Failed, testfile.Passed, testfile.Failed, testfile.Passed, testfile.Failed} {
		o := report.Tests[i]
		if o.Status != want {
			t.Errorf("%s: %s %s", o.Name, o.Status, o.Message())
		}
		if o.Status == testfile.Passed {
			continue
		}
		mu.Lock()
		seen = nil
		mu.Unlock()
		status := send(t, o.Curl)
		mu.Lock()
		if through := len(seen) > 0; through != strings.HasPrefix(o.Name, "never") {
			t.Errorf("%s: status %d, the backend has seen %q\n%s", o.Name, status, seen, o.Message())
		}
		mu.Unlock()
	}
}

// send sends what a line of curl with a method and a URL says.
func send(t *testing.T, line string) int {
	t.Helper()
	words := strings.Fields(line)
	if len(words) != 5 || strings.Join(words[:3], " ") != "curl -i -X" {
		t.Fatalf("%q", line)
	}
	req, err := http.NewRequestWithContext(t.Context(), words[3], strings.Trim(words[4], "'"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
