package command_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

var pageBlock = regexp.MustCompile("(?ms)^```(caddyfile|yaml)\n(.*?)^```")

// TestDocs_ERPKey runs every command of docs/guides/erp-key.md, each with the files that the page shows before it, and compares what
// it prints.
func TestDocs_ERPKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/erp-key.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	log := ""
	for i, route := range []string{"GET /wc/v3/orders", "PUT /wc/v3/orders/:id", "PUT /wc/v3/orders/:id", "GET /wc/v3/products"} {
		method, route, _ := strings.Cut(route, " ")
		log += passed("shop.example.com", `{"kind":"key","key":"a1b2c3d"}`, method, route, "203.0.113.7", 200, start+6*60*60+i)
	}
	log += passed("shop.example.com", `{"kind":"key","key":"a1b2c3d"}`, "GET", "/wc/v3/orders", "203.0.113.7", 200, start+day+6*60*60)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("journal.log", log)
	run := 0
	for _, m := range shownCommand.FindAllStringSubmatchIndex(string(page), -1) {
		text := func(group int) string { return string(page[m[2*group]:m[2*group+1]]) }
		for _, b := range pageBlock.FindAllStringSubmatch(string(page[:m[0]]), -1) {
			write(map[string]string{"caddyfile": "Caddyfile", "yaml": "erp.test.yaml"}[b[1]], b[2])
		}
		out, problems, status := command.Run(strings.NewReader(""), strings.Fields(text(1))...)
		if out != text(3) || text(2) != string(rune('0'+status)) {
			t.Errorf("%s: exit status %d\n%s\n%s", text(1), status, out, problems)
		}
		run++
	}
	if all := strings.Count(string(page), "```sh\n"); run != all || run < 3 {
		t.Errorf("%d commands are run, of %d", run, all)
	}
}
