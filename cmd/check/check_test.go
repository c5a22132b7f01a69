package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

func TestReport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		passed, failed int
		ok             bool
		last           string
	}{
		"all passed":  {3, 0, true, "3 passed, 0 failed"},
		"one failed":  {3, 1, false, "3 passed, 1 failed"},
		"nothing ran": {0, 0, false, "0 passed, 0 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			r := results{out: &out}
			r.pass(tt.passed)
			for range tt.failed {
				r.fail("x", "why")
			}
			if ok := r.report(); ok != tt.ok {
				t.Errorf("report = %t, want %t", ok, tt.ok)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; last != tt.last {
				t.Errorf("last line %q, want %q", last, tt.last)
			}
		})
	}
}

func TestRun_flags(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if ok, err := run(t.Context(), []string{"--list"}, &out); !ok || err != nil {
		t.Fatalf("--list: %t, %v", ok, err)
	}
	for _, s := range steps {
		if !strings.Contains(out.String(), s.name) {
			t.Errorf("--list does not name %s", s.name)
		}
	}
	for _, args := range [][]string{
		{"--run", "nonsense"},
		{"extra"},
		{"--fuzz", "x"},
		{"--fast", "--run", "vet"},
		{"--fast", "--nightly", "2h"},
		{"--fast", "--before", "HEAD"},
		{"--fast", "--fuzz", "10m"},
	} {
		if ok, err := run(t.Context(), args, &out); ok || err == nil {
			t.Errorf("%q: %t, %v, want an error", args, ok, err)
		}
	}
}

// TestReport_Times: what each step took stands before the last line, the longest first, with
// what the selection leaves out.
func TestReport_Times(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := results{out: &out}
	for _, s := range []stepTime{{"format", 340 * time.Millisecond}, {"test", 65 * time.Second}, {"vet", 9960 * time.Millisecond}} {
		r.begin(step{name: s.step, what: "something"})
		r.pass(1)
		r.end(s.took)
	}
	r.leave("the step lint")
	r.leave("the tests of a and b")
	r.report()
	const want = `== format: something
   format took 300ms
== test: something
   test took 1m5s
== vet: something
   vet took 10s

step               took
test               1m5s
vet                 10s
format            300ms
all             1m15.3s

left out: the step lint; the tests of a and b

3 passed, 0 failed
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRunSteps: what each step took is told, and --fast names the steps that it leaves out.
func TestRunSteps(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := check{fast: true, results: results{out: &out}}
	c.runSteps(t.Context(), []step{{name: "one", what: "the first", run: func(c *check, _ context.Context) { c.results.pass(1) }}})
	if !c.results.report() || !strings.Contains(out.String(), "\n   one took ") || !strings.Contains(out.String(), "\none ") {
		t.Errorf("no time in\n%s", out.String())
	}
	if !strings.Contains(out.String(), "\nleft out: the steps setup, lint, ") {
		t.Errorf("what --fast leaves out is not in\n%s", out.String())
	}
}

// TestSelectSteps_Fast: it installs nothing.
func TestSelectSteps_Fast(t *testing.T) {
	t.Parallel()
	var names []string
	selected, err := selectSteps("", true)
	for _, s := range selected {
		names = append(names, s.name)
	}
	if want := []string{"format", "tidy", "build", "vet", "test"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
}

// TestTestable: tests that link a server are left out, however deep it lies, and all others
// are not. Each server is one.
func TestTestable(t *testing.T) {
	t.Parallel()
	list, err := output(t.Context(), time.Minute, "../..", "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	if err != nil {
		t.Fatal(list, err)
	}
	fast, left := testable(list)
	for _, pkg := range []string{"/policies", "/policies/call", "/cmd/check", "/cmd/platform/site"} {
		if !slices.Contains(fast, module+pkg) {
			t.Errorf("%s is not tested", pkg)
		}
	}
	for _, pkg := range []string{"/caddymodule/gateway", "/cmd/caddy", "/cmd/check/monitoring", "/cmd/check/testkit/redisrun"} {
		if !slices.Contains(left, module+pkg) {
			t.Errorf("%s is not left out", pkg)
		}
	}
	for _, pkg := range servers {
		if !strings.Contains(list, " "+pkg+" ") {
			t.Errorf("no test links %s", pkg)
		}
	}
}

func TestSelectSteps(t *testing.T) {
	t.Parallel()
	selected, err := selectSteps("vet,format", false)
	if err != nil || len(selected) != 2 || selected[0].name != "vet" || selected[1].name != "format" {
		t.Errorf("selectSteps = %v, %v", selected, err)
	}
}

func TestInstallPackages(t *testing.T) {
	t.Parallel()
	out, err := machine.Install(t.Context(), []machine.Package{{Name: "go", Command: "go"}, {Name: "root", File: "/"}})
	if out != "" || err != nil {
		t.Errorf("nothing is missing: %q, %v", out, err)
	}
	if p := (machine.Package{Name: "no", Command: "no-such-command"}); !p.Missing() {
		t.Error("a missing command is not noticed")
	}
	if p := (machine.Package{Name: "no", File: "/no/such/file"}); !p.Missing() {
		t.Error("a missing file is not noticed")
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	out, err := output(t.Context(), time.Minute, t.TempDir(), "bash", "-c", "echo out; echo err >&2; exit 3")
	if err == nil || !strings.Contains(out, "out") || !strings.Contains(out, "err") {
		t.Errorf("output = %q, %v", out, err)
	}
	// The grandchild would outlive the limit if only the child were ended.
	start := time.Now()
	if _, err := output(t.Context(), 200*time.Millisecond, t.TempDir(), "bash", "-c", "sleep 60; true"); err == nil {
		t.Error("a command over its limit is no error")
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the group was not ended: %s", took)
	}
}

func TestShellCommands(t *testing.T) {
	t.Parallel()
	text := "# x\n```sh\n# first\ngo build \\\n  -o x ./cmd/caddy   # why\n\ngo vet\n```\n```caddyfile\nrespond\n```\n```sh\nlast\n```\n"
	want := []string{"go build -o x ./cmd/caddy", "go vet", "last"}
	if got := shellCommands(text); !slices.Equal(got, want) {
		t.Errorf("shellCommands = %q, want %q", got, want)
	}
}
