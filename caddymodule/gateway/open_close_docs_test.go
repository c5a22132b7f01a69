package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/policy"
)

// openAndClose runs a Caddy with two sites for tests of "open" and "close".
func openAndClose(t *testing.T) *process {
	t.Helper()
	p := newPlatform(t)
	var blocks strings.Builder
	for i, host := range []string{"shop.example.com", "blog.example.com"} {
		fmt.Fprintf(&blocks, "\t@%d host %s\n\thandle @%[1]d {\n\t\trestwarden wordpress {\n\t\t\tlogin_only\n\t\t\tallow users /own/v1/**\n\t\t}\n\t%[3]s\n\t}\n", i, host, p.proxied())
	}
	return startProcessOf(t, blocks.String())
}

// TestDocs_OpenClose runs every command of docs/commands/open-close.md against a running Caddy, in the order of the page, and what else may be
// typed.
func TestDocs_OpenClose(t *testing.T) {
	g := openAndClose(t)
	page, err := os.ReadFile("../../docs/commands/open-close.md")
	if err != nil {
		t.Fatal(err)
	}
	const ending = ", on this gateway\n"
	run := 0
	for _, m := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(m[1]) {
			line = strings.ReplaceAll(strings.TrimSpace(line), "'", "")
			out, problems, status := g.command(line + " --address " + g.adminAddress())
			want, known := map[string]string{
				"caddy restwarden open --site shop.example.com --for 60h --yes POST /acme/v1/callback": "shop.example.com: open POST /acme/v1/callback until ",
				"caddy restwarden open --list":                                                         "shop.example.com  open POST /acme/v1/callback  ",
				"caddy restwarden open --list --format caddyfile":                                      "; this line has no end\nallow anyone POST /acme/v1/callback\n",
				"caddy restwarden open --site shop.example.com --for 0s POST /acme/v1/callback":        "shop.example.com: open POST /acme/v1/callback is taken back" + ending,
				"caddy restwarden open --site shop.example.com --for 2d --yes --plugin contact-form-7": "shop.example.com: open plugin contact-form-7 until ",
				"caddy restwarden close --site * GET /acme/v1/export":                                  "blog.example.com: close GET /acme/v1/export until it is taken back" + ending + "shop.example.com: close GET /acme/v1/export until it is taken back" + ending,
				"caddy restwarden close --list":                                                        "shop.example.com  close GET /acme/v1/export  ",
				"caddy restwarden close --site * --for 0s GET /acme/v1/export":                         "shop.example.com: close GET /acme/v1/export is taken back" + ending,
			}[line]
			if status != 0 || !known || !strings.Contains(out, want) {
				t.Errorf("%s: exit status %d\n%s\n%s", line, status, out, problems)
			}
			run++
		}
	}
	if run != 8 {
		t.Errorf("%d commands", run)
	}
	provesClosed(t, g, string(page))
	for args, want := range map[string]struct {
		status       int
		out, problem string
	}{
		"open --site shop.example.com --for 1h POST /acme/v1/x":                     {2, "", "without a terminal, --yes must confirm: open POST /acme/v1/x for 1h at shop.example.com"},
		"open --site *.example.com --for 1h POST /acme/v1/x":                        {2, "", "at 2 sites (blog.example.com, shop.example.com)"},
		"open --site shop.exmple.com --for 1h --yes POST /acme/v1/x":                {2, "", "did you mean shop.example.com?"},
		"open --site shop.example.com --for 8d --yes POST /acme/v1/x":               {2, "", "for: 8d is not between 0s and 7d"},
		"open --site shop.example.com --for soon --yes POST /acme/v1/x":             {2, "", `--for: \"soon\" is not a duration`},
		"open --site shop.example.com --yes POST /acme/v1/x":                        {2, "", "--for: say how long"},
		"open --for 1h --yes POST /acme/v1/x":                                       {2, "", "--site or --tag: name the sites"},
		"open --site shop.example.com --for 1h --yes POST":                          {2, "", "name one route"},
		"open --site shop.example.com --for 1h --yes PST /acme/v1/x":                {2, "", "did you mean POST"},
		"open --site shop.example.com --for 1h --yes /acme/**":                      {2, "", "opens whatever is below"},
		"open --site shop.example.com --for 1h --yes --plugin contact-form":         {2, "", "contact-form-7"},
		"open --site shop.example.com --for 1h --yes --plugin contact-form-7 /a/b":  {2, "", "--plugin: a plugin has its own routes"},
		"open --site shop.example.com --for 0s POST /acme/v1/x":                     {2, "", "no line \\\"POST /acme/v1/x\\\" that is switched on; these are: plugin contact-form-7"},
		"open --site shop.example.com --for 1h --yes POST /own/v1/x":                {1, "", "shop.example.com: it would let nobody pass, and is not switched on: it cannot pass allow users /own/v1/** at /"},
		"open --site *.example.com --for 1h --yes POST /own/*/x":                    {0, "  it does not pass allow users /own/v1/** at /", ""},
		"open --list --format xml":                                                  {2, "", `--format: \"xml\"`},
		"open --list /acme":                                                         {2, "", "--list: names sites alone"},
		"open --format json --site shop.example.com --for 1h --yes POST /acme/v1/x": {2, "", "--format: only with --list"},
		"open --list --format json --site *shop*":                                   {0, `[{"site":"shop.example.com","lines":[{"line":"plugin contact-form-7",`, ""},
		"close --list --format caddyfile":                                           {2, "", `--format: \"caddyfile\"`},
		"close --site shop.example.com --for 366d /acme/v1/x":                       {2, "", "for: 366d is not between 0s and 365d"},
		"close --site shop.example.com":                                             {2, "", "name one route"},
		"close --site shop.example.com /acme/v1/x /acme/v1/y":                       {2, "", "name one route"},
		"close --site shop.example.com --plugin contact-form-7":                     {2, "", "unknown flag: --plugin"},
		"close --list --site blog.example.com":                                      {0, "SITE  LINE  SINCE  UNTIL  BY\n", ""},
	} {
		out, problems, status := g.command("caddy restwarden " + args + " --address " + g.adminAddress())
		if status != want.status || !strings.Contains(out, want.out) || (want.out == "") != (out == "") || !strings.Contains(problems, want.problem) {
			t.Errorf("%s: exit status %d, want %d\n%s\n%s", args, status, want.status, out, problems)
		}
	}
}

// provesClosed runs the tests of the page against the Caddy that runs, with the call closed and after.
func provesClosed(t *testing.T, g *process, page string) {
	t.Helper()
	_, tests, _ := strings.Cut(page, "```yaml\n")
	tests, _, _ = strings.Cut(tests, "```")
	file := filepath.Join(t.TempDir(), "cve.test.yaml")
	if err := os.WriteFile(file, []byte(tests), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, then := range []string{"", " --for 0s"} {
		if _, problems, status := g.command("caddy restwarden close --site shop.example.com" + then + " GET /acme/v1/export --address " + g.adminAddress()); status != 0 {
			t.Error(problems)
		}
		passed, by := "2 passed", "access"
		if then != "" {
			passed = "1 passed" // login_only refuses the call as well, but not as the policy that the test names
		}
		if out, problems, _ := g.command("caddy restwarden test --running " + file + " --address " + g.adminAddress()); !strings.Contains(out, passed) || strings.Contains(out, by) != (then != "") {
			t.Errorf("%s: %s%s", passed, out, problems)
		}
	}
}

// TestRunning: "test --running" and "explain --running" take what is switched on at the Caddy that runs: an open breaks a never, a close
// an always, and a mode and a lockdown count.
func TestRunning(t *testing.T) {
	g := openAndClose(t)
	admin := func(path, body string) {
		t.Helper()
		if status, text := adminOf(t, g.adminAddress(), "POST", path, body); status != 200 {
			t.Fatalf("%s %s: %d %s", path, body, status, text)
		}
	}
	command := func(args string, status int, want string) {
		t.Helper()
		out, problems, got := g.command("caddy restwarden " + args + " --running --address " + g.adminAddress())
		if got != status || !strings.Contains(out+problems, want) {
			t.Errorf("%s: exit status %d, want %d with %s\n%s\n%s", args, got, status, want, out, problems)
		}
	}
	file := filepath.Join(t.TempDir(), "a.test.yaml")
	const at = "http://shop.example.com"
	tests := "config: nowhere\ntests:\n  - never: { as: anonymous, routes: [/acme/**], at: " + at + " }\n  - always: { as: role:administrator, calls: [GET], routes: [/acme/v1/y], at: " + at + " }\n"
	if err := os.WriteFile(file, []byte(tests), 0o600); err != nil {
		t.Fatal(err)
	}
	call := "explain -X POST " + at + "/wp-json/acme/v1/x"
	command("test "+file, 0, "2 passed")
	command(call, 1, "refused: 401 rest_not_logged_in")
	admin("sites/shop.example.com/open", `{"for":"1h","route":"/acme/v1/x"}`)
	command("test "+file, 1, "open /acme/v1/x")
	command(call, 0, "caddy restwarden open --site shop.example.com --for 0s /acme/v1/x")
	admin("sites/shop.example.com/close", `{"route":"/acme/v1/x"}`)
	command("test "+file, 0, "2 passed")
	command(call, 1, "close /acme/v1/x")
	admin("lockdown", `{"for":"1h"}`)
	command("test "+file, 3, "a lockdown is in force")
	admin("lockdown", `{"for":"0s"}`)
	admin("sites/shop.example.com/mode", `{"mode":"`+string(policy.Observe)+`","for":"1h"}`)
	command("test "+file, 1, "only observes")
	admin("sites/shop.example.com/close", `{"route":"/acme/**"}`)
	command("test "+file, 0, "2 passed")
	by := "tests:\n  - request: GET " + at + "/wp-json/acme/v1/y\n    expect: { refused: rest_not_logged_in, by: lockdown }\n"
	if err := os.WriteFile(file, []byte(by), 0o600); err != nil {
		t.Fatal(err)
	}
	command("test "+file, 0, "1 passed")
	command(call, 1, "caddy restwarden close --site shop.example.com --for 0s /acme/v1/x")
	command("explain --config Caddyfile "+at, 2, "--running takes the place of --config")
	if _, problems, status := g.command("caddy restwarden test --address localhost:1 " + file); status != 2 || !strings.Contains(problems, "--address: only with --running") {
		t.Errorf("%d %s", status, problems)
	}
}
