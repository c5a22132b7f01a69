package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// TestDocs_Status runs every command of docs/commands/status.md against a running Caddy, and what
// else may be typed.
func TestDocs_Status(t *testing.T) {
	p := newPlatform(t)
	g := startProcessOf(t, "\t@shop host shop.example.com\n\thandle @shop {\n\t\trestwarden cms {\n\t\t\tmode observe\n\t\t\ttag shops\n\t\t}\n\t"+p.proxied()+"\n\t}\n")
	page, err := os.ReadFile("../../docs/commands/status.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"caddy restwarden status":                                           "shop.example.com  observe  no ",
		"caddy restwarden status --site shop.example.com":                   "REQUEST ID\n20",
		"caddy restwarden status --tag shops":                               "shop.example.com  observe  no ",
		"caddy restwarden status --format json":                             `{"v":1,"sites":[{"site":"shop.example.com"`,
		"caddy restwarden status --web":                                     "http://127.0.0.1:",
		"caddy restwarden observe shop.example.com --for 2h":                "shop.example.com: mode observe until ",
		"caddy restwarden observe shop.example.com --for 0s":                "shop.example.com: mode observe, on this gateway\n",
		"caddy restwarden observe --tag shops --for 0s":                     "shop.example.com: mode observe, on this gateway\n",
		"caddy restwarden lockdown --tag shops --for 6h":                    "shop.example.com: lockdown until ",
		"caddy restwarden lockdown --for 6h":                                "lockdown (sites: 1) until ",
		"caddy restwarden lockdown --for 0s":                                "no lockdown, on this gateway\n",
		"caddy restwarden lockdown --site shop.example.com --for 1d --hard": "shop.example.com: hard lockdown until ",
		"caddy restwarden lockdown --site shop.example.com --for 0s":        "shop.example.com: no lockdown, on this gateway\n",
	}
	if status, _, err := g.send("GET /cms-json/cms/v2/users?rest_route=/x", "", "Host: shop.example.com"); err != nil || status != http.StatusOK { // it would be refused
		t.Error(status, err)
	}
	run := 0
	for _, m := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(m[1]) {
			line = strings.TrimSpace(line)
			ask := g.command
			if strings.HasSuffix(line, "--web") {
				ask = g.serving
			}
			out, problems, status := ask(line + " --address " + g.adminAddress())
			if status != 0 || want[line] == "" || !strings.Contains(out, want[line]) {
				t.Errorf("%s: exit status %d\n%s\n%s", line, status, out, problems)
			}
			run++
		}
	}
	if run != len(want) {
		t.Errorf("%d commands, want %d", run, len(want))
	}
	off := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(off, []byte("{\n\tadmin off\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, problem string
		status        int
	}{
		{"lockdown --for 1h --site shop.exmple.com --address " + g.adminAddress(), `did you mean shop.example.com?`, 2},
		{"observe shop.exmple.com --for 1h --address " + g.adminAddress(), `did you mean shop.example.com?`, 2},
		{"lockdown --for soon --address " + g.adminAddress(), `for: \"soon\" is not a duration`, 2},
		{"lockdown --for 1h --site= --address " + g.adminAddress(), `no site is called \"\"`, 2},
		{"lockdown", `--for: say how long`, 2},
		{"lockdown shop.example.com --for 1h", `name the site with --site: --site shop.example.com`, 2},
		{"observe *.com --for 1h --address " + g.adminAddress(), `a name with * for any text belongs behind --site`, 2},
		{"observe shop.example.com", `--for: say how long`, 2},
		{"observe --for 1h", `--site or --tag: name the sites`, 2},
		{"observe --for 1h a b", `accepts at most 1 arg`, 2},
		{"status nonsense", `unknown command`, 2},
		{"status --nonsense", `unknown flag: --nonsense`, 2},
		{"status --format xml --address " + g.adminAddress(), `--format: \"xml\" is neither text nor json`, 2},
		{"status --config " + off + " --adapter caddyfile", "has `admin off`", 2},
		{"status --address 127.0.0.1:1", "`admin off`", 1},
		{"status --web --address 127.0.0.1:1", "`admin off`", 1},
		{"status --address 127.0.0.1:1-2", `invalid admin address`, 2},
		{"status --site shop.exmple.com --address " + g.adminAddress(), `did you mean shop.example.com?`, 2},
		{"status --web --site shop.exmple.com --address " + g.adminAddress(), `did you mean shop.example.com?`, 2},
		{"status --listen 127.0.0.1:0 --address " + g.adminAddress(), `--listen: only with --web`, 2},
		{"status --web --listen nowhere --address " + g.adminAddress(), `--listen: `, 2},
		{"status --web --secret-file " + off + " --address " + g.adminAddress(), `has fewer than 32 bytes`, 2},
		{"status --web --secret-file " + off + "/x --address " + g.adminAddress(), `--secret-file: `, 2},
	} {
		out, problems, status := g.command("caddy restwarden " + test.args)
		if status != test.status || out != "" || !strings.Contains(problems, test.problem) {
			t.Errorf("%s: exit status %d, want %d\n%s\n%s", test.args, status, test.status, out, problems)
		}
	}
}

// TestStatus_Web: the page of one site is all that its address shows, and the same secret
// makes the same address.
func TestStatus_Web(t *testing.T) {
	p := newPlatform(t)
	g := startProcessOf(t, "\t@shop host shop.example.com\n\thandle @shop {\n\t\trestwarden cms\n\t"+p.proxied()+"\n\t}\n")
	file := filepath.Join(t.TempDir(), "secret")
	path := func(more string) string {
		t.Helper()
		out, problems, status := g.serving("caddy restwarden status --web --secret-file " + file + " --address " + g.adminAddress() + more)
		u, err := url.Parse(strings.TrimSpace(out))
		if status != 0 || err != nil || len(u.Path) < 40 {
			t.Fatalf("exit status %d\n%s\n%s", status, out, problems)
		}
		return u.Path
	}
	all, one := path(""), path(" --site shop.example.com")
	if path("") != all || path(" --site shop.example.com") != one || all == one {
		t.Errorf("%s, %s", all, one)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	out, problems, status := g.serving("caddy restwarden status --web --format json --listen [::]:0 --address " + g.adminAddress())
	if status != 0 || !strings.HasPrefix(out, `{"v":1,"page":"http://localhost:`) || !strings.Contains(problems, "can be reached from other machines") {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}

// serving runs a command that serves a page, opens the page, and interrupts the command.
func (p *process) serving(line string) (out, problems string, status int) {
	p.t.Helper()
	words := strings.Fields(line)
	cmd := exec.CommandContext(p.t.Context(), caddyrun.Binary(p.t), words[1:]...)
	cmd.Dir = p.t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	first, err := bufio.NewReader(stdout).ReadString('\n')
	if address := regexp.MustCompile(`http://[^"\s]+`).FindString(first); address != "" {
		res, err := http.Get(address) //nolint:gosec,noctx // it has just been printed
		if err != nil {
			p.t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || !strings.Contains(string(text), "<h1>") {
			p.t.Errorf("%s: %s %s", address, res.Status, text)
		}
	} else {
		p.t.Errorf("no address: %q, %v", first, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		p.t.Errorf("%s: %v", line, err)
	}
	return first, stderr.String(), cmd.ProcessState.ExitCode()
}

// TestCommands_Socket: the commands reach an admin endpoint on a socket, as "caddy reload"
// does, and the log says so.
func TestCommands_Socket(t *testing.T) {
	p := newPlatform(t)
	address := "unix/" + filepath.Join(t.TempDir(), "admin.sock")
	g := startFile(t, &caddyrun.File{Admin: address, Sites: []caddyrun.Site{{Body: loginOnly + p.proxied()}}})
	out, problems, status := (&process{t: t}).command("caddy restwarden lockdown --for 1h --address " + address)
	if status != 0 || !strings.HasPrefix(out, "lockdown (sites: 1) until ") {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
	if !strings.Contains(g.logged(), `"by":"the socket of the admin endpoint"`) {
		t.Error(g.logged())
	}
}

// startProcessOf runs a gateway of its own until the test ends.
func startProcessOf(t *testing.T, block string) *process {
	t.Helper()
	p := &process{caddyrun.StartProcess(t, "", block), t}
	t.Cleanup(crowd.CloseIdleConnections)
	return p
}

// adminAddress is the address of the admin endpoint.
func (p *process) adminAddress() string { return strings.TrimPrefix(p.Admin(), "http://") }

// command runs "caddy …".
func (p *process) command(line string) (out, problems string, status int) {
	p.t.Helper()
	words := strings.Fields(line)
	cmd := exec.CommandContext(p.t.Context(), caddyrun.Binary(p.t), words[1:]...)
	cmd.Dir = p.t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), status
}
