//go:build wordpress

package wordpress

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

var update = flag.Bool("update", false, "write the tables of docs/commands/bypass.md")

// bypassPage has the blocks of the proxies, the command and the tables.
const bypassPage = "docs/commands/bypass.md"

// bypassed is what the command prints as JSON.
type bypassed struct {
	bypassCount
	Kinds []bypassedKind
}

type bypassedKind struct {
	bypassCount
	Kind, Shown string
}

type bypassCount struct{ Sent, Run, Past int }

// TestBypass runs the command of the page against the proxies of the page, which stand in
// front of Apache. What gets past is what the page says, and nothing gets past the gateway.
func TestBypass(t *testing.T) {
	s := setUps(t)
	file := filepath.Join(s.root, bypassPage)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "bypass")
	if out, err := machine.Run(t.Context(), s.root, nil, "go", "build", "-o", binary, "./cmd/check/bypass"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var results []*bypassed
	for _, p := range bypassProxies {
		t.Run(p.name, func(t *testing.T) {
			address, err := p.start(t.Context(), s, string(page))
			if err != nil {
				t.Fatal(err)
			}
			r, status := runBypass(t, s, binary, string(page), address)
			if status != min(r.Past, 1) || (p.name == gatewayProxy) != (r.Past == 0) || r.Run < r.Sent/4 {
				t.Errorf("status %d: %d sent, %d run, %d past", status, r.Sent, r.Run, r.Past)
			}
			t.Attr("checks", strconv.Itoa(r.Run))
			results = append(results, r)
		})
	}
	if t.Failed() {
		return
	}
	before, behind, ok := strings.Cut(string(page), bypassMark)
	if !ok {
		t.Fatalf("%s has no place for the tables", bypassPage)
	}
	releases := bypassReleases(t, s)
	switch want := releases + bypassTables(results); {
	case *update:
		err = os.WriteFile(file, []byte(before+bypassMark+want), 0o644)
	case !strings.HasPrefix(behind, releases):
		t.Logf("the figures are those of other releases:\n%s", want)
	case behind != want:
		err = fmt.Errorf("%s is not what gets past: go test -tags wordpress ./cmd/check/wordpress -run Bypass -update writes it\n%s", bypassPage, want)
	}
	if err != nil {
		t.Error(err)
	}
}

const bypassMark = "<!-- written by go test -tags wordpress ./cmd/check/wordpress -run Bypass -update -->\n"

const gatewayProxy = "RestWarden"

// bypassReleases says what the figures hold for: others may read a few requests in another way.
func bypassReleases(t *testing.T, s *stack) string {
	t.Helper()
	short := func(text string) string { return regexp.MustCompile(`\d+\.\d+`).FindString(text) }
	version := func(name, argument string) string {
		out, err := exec.CommandContext(t.Context(), name, argument).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return short(string(out))
	}
	return fmt.Sprintf("\nMeasured with WordPress %s, PHP %s, Apache %s and nginx %s.\n",
		short(s.site(apache).Release), version("php", "-v"), version("apache2", "-v"), version("nginx", "-v"))
}

// runBypass runs the command of the page, with the addresses of the test.
func runBypass(t *testing.T, s *stack, binary, page, proxy string) (*bypassed, int) {
	t.Helper()
	_, line, ok := strings.Cut(page, "go run ./cmd/check/bypass ")
	line, _, _ = strings.Cut(line, "\n")
	if !ok || !strings.Contains(line, "http://127.0.0.1:8000") {
		t.Fatalf("the page has no command: %q", line)
	}
	line = strings.NewReplacer("127.0.0.1:8000", proxy, "127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", s.site(apache).Apache)).Replace(line)
	command := exec.CommandContext(t.Context(), binary, append(strings.Fields(line), "--format", "json")...)
	var log bytes.Buffer
	command.Stderr = &log
	out, err := command.Output()
	if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, &log)
	}
	r := new(bypassed)
	if err := json.Unmarshal(out, r); err != nil {
		t.Fatal(err)
	}
	return r, command.ProcessState.ExitCode()
}

// bypassTables writes what got past each proxy, and the shortest request of each kind that
// got past the first of them.
func bypassTables(results []*bypassed) string {
	var b strings.Builder
	b.WriteString("\n| spelling | sent | run |")
	for _, p := range bypassProxies {
		fmt.Fprintf(&b, " past %s |", p.name)
	}
	b.WriteString("\n|---|--:|--:|" + strings.Repeat("--:|", len(results)) + "\n")
	row := func(name string, of func(*bypassed) bypassCount) {
		run := 0
		for _, r := range results {
			run = max(run, of(r).Run)
		}
		fmt.Fprintf(&b, "| %s | %d | %d |", name, of(results[0]).Sent, run)
		for _, r := range results {
			fmt.Fprintf(&b, " %d |", of(r).Past)
		}
		b.WriteString("\n")
	}
	for i, k := range results[0].Kinds {
		row(k.Kind, func(r *bypassed) bypassCount { return r.Kinds[i].bypassCount })
	}
	row("all", func(r *bypassed) bypassCount { return r.bypassCount })
	b.WriteString("\n## The shortest request of each kind\n\nOf those that got past nginx, else of those that got past Caddy, without `Host`, `Connection` and `Content-Length`:\n\n```text\n")
	for i := range results[0].Kinds {
		for _, r := range results {
			if k := r.Kinds[i]; k.Past > 0 {
				fmt.Fprintf(&b, "%s\n%s\n", k.Kind, indented(k.Shown))
				break
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// indented leaves out what every request has.
func indented(shown string) string {
	var lines []string
	for line := range strings.SplitSeq(shown, "\n") {
		if !strings.HasPrefix(line, "Host: ") && !strings.HasPrefix(line, "Connection: ") && !strings.HasPrefix(line, "Content-Length: ") && line != "" {
			lines = append(lines, "    "+line)
		}
	}
	return strings.Join(lines, "\n")
}
