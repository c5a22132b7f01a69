package main

import (
	"bytes"
	"os"
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
	for _, args := range [][]string{{"--run", "nonsense"}, {"extra"}, {"--fuzz", "x"}} {
		if ok, err := run(t.Context(), args, &out); ok || err == nil {
			t.Errorf("%q: %t, %v, want an error", args, ok, err)
		}
	}
}

func TestSelectSteps(t *testing.T) {
	t.Parallel()
	selected, err := selectSteps("vet,format")
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

func TestBuildOwnCaddy_OtherModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/go.mod", []byte("module example.com/m\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"xcaddy build --with example.com/other/caddymodule", "xcaddy build"} {
		if _, err := buildOwnCaddy(t.Context(), dir, line); err == nil || !strings.Contains(err.Error(), "does not build") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
