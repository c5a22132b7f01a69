package command_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// documentedJournal is the log of docs/commands/credentials.md.
func documentedJournal() (log string) {
	const shop, six, nine = "shop.example.com", start + 6*60*60, start + 9*60*60
	add := func(credential, method, route, client string, status, at int) {
		log += passed(shop, credential, method, route, client, status, at)
	}
	add(erp, "GET", "/wc/v3/orders", "203.0.113.7", 200, six)
	add(erp, "PUT", "/wc/v3/orders/:id", "203.0.113.7", 200, six+1)
	add(erp, "PUT", "/wc/v3/orders/:id", "203.0.113.7", 200, six+2)
	add(erpClaimed, "GET", "/wc/v3/products", "203.0.113.7", 200, six+3)
	add(erpClaimed, "GET", "/wc/store/v1/products", "192.0.2.66", 200, six+4)
	add(`{"kind":"key","key":"0000000","claimed":true}`, "GET", "/wc/v3", "192.0.2.66", 200, six+5)
	add(`{"kind":"key","key":"0000000","claimed":true}`, "GET", "/wc/v3", "192.0.2.66", 200, six+6)
	add(`{"kind":"password","uuid":"`+uuid+`","login":"maria"}`, "POST", "/wp/v2/posts", "198.51.100.4", 201, nine)
	add(erp, "GET", "/wc/v3/orders", "203.0.113.7", 200, six+day)
	part := passed(shop, erpClaimed, "PUT", "/wc/v3/orders/:id", "203.0.113.7", 200, six+day+2)
	log += strings.Replace(part, `"status"`, `"batch":"POST /wc/v3/orders/batch","status"`, 1)
	return log + strings.NewReplacer("rest_not_logged_in", "rest_credential_scope", "would_refuse", "refused", `"caller":"anonymous"`, `"caller":"","credential":`+erpClaimed).
		Replace(observed(shop, "GET", "/wc/v3/customers", "203.0.113.7", six+7))
}

// TestDocs_Credentials: the page shows what the command prints, and its commands run.
func TestDocs_Credentials(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/commands/credentials.md")
	if err != nil {
		t.Fatal(err)
	}
	log := logFile(t, "journal.log", []byte(documentedJournal()))
	config := guarded(t, "scope old {\nkey 9999999\n}", "scope erp {\nkey a1b2c3d\nallow GET,PUT,DELETE /wc/v3/orders/*\n}")
	for _, args := range [][]string{{log}, {"--scopes", log}} {
		out, problems, status := command.Run(nil, append([]string{"credentials"}, args...)...)
		if status != 0 || !strings.Contains(string(page), "```text\n"+out+"```\n") {
			t.Errorf("%q: %d %s\nthe page has no\n%s", args, status, problems, out)
		}
	}
	out, problems, status := command.Run(nil, "credentials", "--config", config, log)
	for _, line := range []string{"In the configuration, and not used in the logs:", "  scope old: no credential of the logs has it", "  scope erp: allow DELETE /wc/v3/orders/* at "} {
		if status != 0 || !strings.Contains(out, line) || !strings.Contains(string(page), line) {
			t.Errorf("%q: %d, %s\n%s", line, status, problems, out)
		}
	}
	_, block, _ := strings.Cut(string(page), "```sh\ncaddy restwarden ")
	line, _, _ := strings.Cut(block, "\n```")
	site := passwordSite(http.StatusOK, ownList)
	defer site.Close()
	file := logFile(t, "login.txt", []byte("Authorization: Basic YTpi\n"))
	args := strings.Fields(strings.NewReplacer("https://shop.example.com", site.URL, "login.txt", file).Replace(line))
	if out, problems, status := command.Run(nil, args...); status != 0 || !strings.Contains(out, uuid) {
		t.Errorf("%q: %d, %s%s", line, status, out, problems)
	}
}
