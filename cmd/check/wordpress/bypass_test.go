//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

var update = flag.Bool("update", false, "write the tables of docs/commands/bypass.md")

// bypassPage has the blocks of the proxies, the command and the tables.
const bypassPage = "docs/commands/bypass.md"

// bypassed is what the command prints as JSON.
type bypassed struct {
	Sent, Run, Past int
	Kinds           []struct {
		Kind      string
		Sent, Run int
		Past      int
		Shown     string
	}
}

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
			if want := min(r.Past, 1); status != want || p.name == gatewayProxy && r.Past != 0 || r.Run < r.Sent/4 {
				t.Errorf("status %d of %d sent, %d run, %d past", status, r.Sent, r.Run, r.Past)
			}
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
	if want := bypassTables(results); *update {
		err = os.WriteFile(file, []byte(before+bypassMark+want), 0o644)
	} else if behind != want {
		err = fmt.Errorf("%s is not what gets past: go test -tags wordpress ./cmd/check/wordpress -run Bypass -update writes it\n%s", bypassPage, want)
	}
	if err != nil {
		t.Error(err)
	}
}

const bypassMark = "<!-- written by go test -tags wordpress ./cmd/check/wordpress -run Bypass -update -->\n"

const gatewayProxy = "RestWarden"

// bypassProxy is a server whose configuration stands on the page.
type bypassProxy struct {
	name  string
	block *regexp.Regexp
	start func(ctx context.Context, s *stack, page string) (address string, err error)
}

var bypassProxies = []bypassProxy{
	{name: "nginx", start: startBypassNginx},
	{name: "Caddy", start: startBypassCaddy("text")},
	{name: gatewayProxy, start: startBypassCaddy("caddyfile")},
}

// bypassBlock returns the first block of a kind that has some text, led to ports of this
// machine.
func (s *stack) bypassBlock(page, kind, has string, port int) (string, error) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], has) {
			return strings.NewReplacer("127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", s.site(apache).Apache),
				"127.0.0.1:8000", fmt.Sprintf("127.0.0.1:%d", port),
				"shop.example.com {", fmt.Sprintf("http://127.0.0.1:%d {", port)).Replace(m[1]), nil
		}
	}
	return "", fmt.Errorf("%s has no block %q with %q", bypassPage, kind, has)
}

func bypassDir(s *stack) (dir string, port int, err error) {
	dir, err = os.MkdirTemp(s.dir, "bypass-")
	if err != nil {
		return "", 0, err
	}
	ports, err := machine.FreePorts(1)
	if err != nil {
		return "", 0, err
	}
	return dir, ports[0], s.giveToWebUser(context.Background(), dir)
}

func startBypassNginx(ctx context.Context, s *stack, page string) (string, error) {
	dir, port, err := bypassDir(s)
	if err != nil {
		return "", err
	}
	block, err := s.bypassBlock(page, "nginx", "location", port)
	if err != nil {
		return "", err
	}
	user := ""
	if s.accountOf(webUser) != "" {
		user = "user " + webUser + ";\n"
	}
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("%sdaemon off;\npid %s/pid;\nerror_log %s/log;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", user, dir, dir, &temporary, block)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return "", err
	}
	p, err := s.start("nginx", "-c", conf, "-e", filepath.Join(dir, "log"))
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	return address, p.Ready(ctx, machine.Connects("tcp", address))
}

// startBypassCaddy starts the Caddy of the tree with the block of a kind.
func startBypassCaddy(kind string) func(context.Context, *stack, string) (string, error) {
	return func(ctx context.Context, s *stack, page string) (string, error) {
		dir, port, err := bypassDir(s)
		if err != nil {
			return "", err
		}
		block, err := s.bypassBlock(page, kind, "reverse_proxy", port)
		if err != nil {
			return "", err
		}
		file := filepath.Join(dir, "Caddyfile")
		if err := os.WriteFile(file, []byte("{\n\tadmin off\n\tpersist_config off\n}\n"+block), 0o644); err != nil {
			return "", err
		}
		p, err := s.start(filepath.Join(s.dir, "caddy"), "run", "--config", file, "--adapter", "caddyfile")
		if err != nil {
			return "", err
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		return address, p.Ready(ctx, machine.Connects("tcp", address))
	}
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

// bypassTables writes what got past each proxy, and the shortest request of each kind.
func bypassTables(results []*bypassed) string {
	var b strings.Builder
	b.WriteString("\n| spelling | sent | run |")
	for _, p := range bypassProxies {
		fmt.Fprintf(&b, " past %s |", p.name)
	}
	b.WriteString("\n|---|--:|--:|" + strings.Repeat("--:|", len(results)) + "\n")
	row := func(name string, sent, run int, past func(*bypassed) int) {
		fmt.Fprintf(&b, "| %s | %d | %d |", name, sent, run)
		for _, r := range results {
			fmt.Fprintf(&b, " %d |", past(r))
		}
		b.WriteString("\n")
	}
	for i, k := range results[0].Kinds {
		row(k.Kind, k.Sent, k.Run, func(r *bypassed) int { return r.Kinds[i].Past })
	}
	row("all", results[0].Sent, results[0].Run, func(r *bypassed) int { return r.Past })
	for i, p := range bypassProxies {
		if results[i].Past == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nThe shortest request of each kind that got past %s:\n\n```text\n", p.name)
		for _, k := range results[i].Kinds {
			if k.Past > 0 {
				fmt.Fprintf(&b, "%s\n%s\n\n", k.Kind, indented(k.Shown))
			}
		}
		b.WriteString("```\n")
	}
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
