package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

var (
	firstCaddyfile = regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```")
	firstRecord    = regexp.MustCompile("(?ms)^```json\n(.*?)^```")
	shownCommand   = regexp.MustCompile("(?ms)^```sh\ncaddy restwarden ([^\n]*) # exit status (\\d)\n```\n\n```text\n(.*?)^```")
)

// TestDocs_Explain runs every command of docs/commands/explain.md and compares what it prints.
func TestDocs_Explain(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands/explain.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var line bytes.Buffer
	if err := json.Compact(&line, firstRecord.FindSubmatch(page)[1]); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"Caddyfile": firstCaddyfile.FindSubmatch(page)[1], "refused.log": line.Bytes()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown := shownCommand.FindAllStringSubmatch(string(page), -1)
	if all := strings.Count(string(page), "```sh\n"); len(shown) != all || all < 3 {
		t.Errorf("%d commands with their output, %d in all", len(shown), all)
	}
	for _, m := range shown {
		out, problems, status := command.Run(strings.NewReader(""), strings.Fields(strings.ReplaceAll(m[1], "'", ""))...)
		if out != m[3] || m[2] != string(rune('0'+status)) {
			t.Errorf("%s: exit status %d\n%s\n%s", m[1], status, out, problems)
		}
	}
}
