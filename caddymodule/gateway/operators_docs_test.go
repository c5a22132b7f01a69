package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth" // basic_auth

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestDocs_Operators runs the example of docs/commands/status.md: who has logged in at the proxy has a name, and nobody else gets through it.
func TestDocs_Operators(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands/status.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Who did it\n")
	_, example, _ := strings.Cut(section, "```caddyfile\n")
	example, _, _ = strings.Cut(example, "```")
	dir, address := t.TempDir(), machine.FreeAddress(t)
	log := filepath.Join(dir, "log")
	_, port, _ := strings.Cut(address, ":")
	for from, to := range map[string]string{
		"/run/caddy/admin.sock": filepath.Join(dir, "s"), "{\n\tadmin": "{\n\tpersist_config off\n\tauto_https off\n\tlog {\n\t\toutput file " + log + "\n\t}\n\tadmin",
		"shop.example.com {": "http://shop.example.com:" + port + " {\n\tbind 127.0.0.1", "admin.example.com {": "http://admin.example.com:" + port + " {\n\tbind 127.0.0.1",
	} {
		if !strings.Contains(example, from) {
			t.Fatalf("the example has no %q", from)
		}
		example = strings.ReplaceAll(example, from, to)
	}
	t.Setenv("XDG_DATA_HOME", dir)
	if err := caddy.Load(caddyrun.Adapt(t, example), true); err != nil {
		t.Fatal(err)
	}
	caddyrun.StopAfter(t)
	ask := func(line string, lines ...string) int {
		t.Helper()
		lines = append(lines, "Host: admin.example.com", "Content-Type: application/json", "X-Operator: eve", "Restwarden-Operator: eve")
		req, err := client.Request(t.Context(), "http://"+address, line, `{"for": "6h"}`, client.Lines(lines...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Do(strangers, req)
		if err != nil {
			t.Fatal(err)
		}
		return got.Status
	}
	const anna = "Authorization: Basic YW5uYTphIHNlY3JldCBvZiBhbm5hJ3M="
	if status := ask("POST /restwarden/lockdown"); status != 401 {
		t.Errorf("without a login: %d", status)
	}
	if status := ask("POST /restwarden/lockdown", anna); status != 200 {
		t.Errorf("with a login: %d", status)
	}
	if status := ask("POST /stop", anna); status == 200 && strings.Contains(logOf(t, log), "exiting") {
		t.Error("all of the admin endpoint is there")
	}
	if want := `"switch":"lockdown","site":"all","hard":false,`; !strings.Contains(logOf(t, log), want) || !strings.Contains(logOf(t, log), `"operator":"anna"}`) {
		t.Errorf("no %s by anna in %s", want, logOf(t, log))
	}
}

func logOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
