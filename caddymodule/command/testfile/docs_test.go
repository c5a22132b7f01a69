package testfile_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
)

var block = regexp.MustCompile("(?ms)^```(caddyfile|yaml|text)\n(.*?)^```")

// TestDocs runs the examples of docs/commands/test.md. The answer is what the page shows, and the
// claim that the page says to hold does.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile(root + "docs/commands/test.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	t.Chdir(t.TempDir())
	try := func(config, tests string) (*testfile.Report, string) {
		for name, text := range map[string]string{"Caddyfile": config, "shop.test.yaml": tests} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, err := runFile(t, "shop.test.yaml", "")
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := report.Text(&said, terminal.Palette{}, false); err != nil {
			t.Fatal(err)
		}
		return report, said.String()
	}
	for i := range 2 { // the blocks behind them are of CI
		if _, said := try(blocks["caddyfile"][i], blocks["yaml"][i]); said != blocks["text"][i] {
			t.Errorf("the page shows\n%s\nthe command says\n%s", blocks["text"][i], said)
		}
	}
	const narrower = "routes: [/wp/v2/**, /wc/v3/**]"
	if !strings.Contains(string(page), "`"+narrower+"`") {
		t.Errorf("the page does not name %s", narrower)
	}
	if report, said := try(blocks["caddyfile"][0], strings.Replace(blocks["yaml"][0], "routes: [/wp/v2/**, /wc/**]", narrower, 1)); report.Status() != 0 {
		t.Error(said)
	}
}
