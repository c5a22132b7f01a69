package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestListed: the commands stand in messages as people list them.
func TestListed(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"command a":           {"a"},
		"commands a and b":    {"a", "b"},
		"commands a, b and c": {"a", "b", "c"},
	} {
		if got := listed(names); got != want {
			t.Errorf("%q: %q", names, got)
		}
	}
}

// TestAdd: an added command stands before those that were there.
func TestAdd(t *testing.T) {
	before := constructors
	t.Cleanup(func() { constructors = before })
	names := commandNames()
	Add(func() *cobra.Command {
		return &cobra.Command{Use: "more", RunE: func(*cobra.Command, []string) error { return nil }}
	})
	cmd := &cobra.Command{Use: "restwarden", SilenceUsage: true, SilenceErrors: true}
	build(cmd)
	cmd.SetArgs([]string{"--nonsense"})
	if err := cmd.Execute(); err == nil || !strings.HasSuffix(err.Error(), `("restwarden" has the `+listed(append([]string{"more"}, names...))+")") {
		t.Error(err)
	}
	cmd.SetArgs([]string{"more"})
	if err := cmd.Execute(); err != nil {
		t.Error(err)
	}
}

// commandNames are the commands of every Caddy with the module, in order.
func commandNames() (names []string) {
	for _, constructor := range constructors {
		names = append(names, constructor().Name())
	}
	return names
}

// TestEveryCaddy: a Caddy with the module and nothing else has the commands, but no demo.
func TestEveryCaddy(t *testing.T) {
	t.Parallel()
	caddy := filepath.Join(t.TempDir(), "caddy")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", caddy, "./testdata/caddy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(config, []byte("http://a.test {\n\trestwarden cms {\n\t\tlogin_only\n\t}\n\treverse_proxy 127.0.0.1:1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	explain := "explain --format json --config " + config + " "
	users := recordedLine("1", "GET /cms-json/cms/v2/users HTTP/1.1\r\nHost: a\r\n\r\n")
	for _, test := range []struct {
		args, in, out, problem string
		shows                  string // in place of out: a part of it
		status                 int
	}{
		{args: "classify", in: users, out: usersLine + "\n"},
		{args: "classify", in: "nonsense", out: refusedLine("null") + "\n", problem: "line 1: not JSON", status: 1},
		{args: "classify --platform joomla", problem: `--platform "joomla" is neither cms nor wordpress`, status: 1},
		{args: "test testdata/test/passed.test.yaml", out: "1 passed, 0 failed\n"},
		{args: "test --config testdata/test/Caddyfile testdata/test/failed.test.yaml testdata/test/passed.test.yaml", out: failedText, status: 1},
		{args: "test --format json testdata/test/page.test.yaml", out: untestedJSON},
		{args: "test testdata/test/unknown.test.yaml", out: unknownText, status: 3},
		{args: "test testdata/test/wrong.test.yaml nowhere.yaml", problem: "testdata/test/wrong.test.yaml:3: a test has no key \"expects\": did you mean expect?", status: 2},
		{args: "test testdata/test/wrong.test.yaml nowhere.yaml", problem: "nowhere.yaml", status: 2},
		{args: "test --config nowhere/Caddyfile testdata/test/passed.test.yaml", problem: "nowhere/Caddyfile", status: 2},
		{args: "test", problem: "test needs a file", status: 2},
		{args: "test --format jnuit testdata/test/passed.test.yaml", problem: "did you mean junit?", status: 2},
		{args: "test --nonsense", problem: "unknown flag: --nonsense", status: 2},
		{args: explain + "http://a.test/about", shows: `"answer": "page"`},
		{args: explain + "http://a.test/cms-json/x/y", shows: `"answer": "refused"`, status: 1},
		{args: explain, problem: "name one URL", status: 2},
		{args: explain + "--nonsense", problem: "unknown flag: --nonsense", status: 2},
		{args: explain + "--as role:shop_manager -d a=b -X PUT http://a.test/cms-json/shop/v3/orders/7", shows: `"answer": "unknown"`, status: 3},
		{args: explain + "http://b.test/", shows: `"answer": "not_reached"`, status: 4},
		{args: "demo", problem: `unknown command "demo" for "caddy restwarden"`, status: 1},
		{args: "--nonsense", problem: `unknown flag: --nonsense ("caddy restwarden" has the ` + listed(commandNames()) + ")", status: 1},
	} {
		cmd := exec.CommandContext(t.Context(), caddy, append([]string{"restwarden"}, strings.Fields(test.args)...)...)
		cmd.Stdin = strings.NewReader(test.in)
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		status := 0
		var exit *exec.ExitError
		if err := cmd.Run(); errors.As(err, &exit) {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if test.shows != "" && strings.Contains(out.String(), test.shows) {
			test.out = out.String()
		}
		if status != test.status || out.String() != test.out || !strings.Contains(problems.String(), test.problem) {
			t.Errorf("%s: exit status %d, want %d\n%s\n%s", test.args, status, test.status, out.String(), problems.String())
		}
	}
}

// TestCommands_Docs: docs/operations.md lists each command.
func TestCommands_Docs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Commands\n")
	listed := ""
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			listed += cells[1]
		}
	}
	for _, name := range commandNames() {
		if !strings.Contains(listed, "`caddy restwarden "+name) && !strings.Contains(listed, "`"+name+"`") {
			t.Errorf("docs/operations.md does not list %s in %s", name, listed)
		}
	}
}
