package gateway

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestSwitchLines_Kept: without Redis a restart ends no line; a file that cannot be read is told, and one that cannot be written.
func TestSwitchLines_Kept(t *testing.T) {
	p := newPlatform(t)
	g := caddyrun.StartProcess(t, "", "\trestwarden cms {\n\t\tlogin_only\n\t\tallow anyone /acme/v1/x\n\t}\n"+p.proxied())
	gw := &process{g, t}
	t.Cleanup(crowd.CloseIdleConnections)
	_, sites := adminOf(t, gw.adminAddress(), "GET", "sites", "")
	_, name, _ := strings.Cut(sites, `"site":"`)
	name, _, _ = strings.Cut(name, `"`)
	site := "sites/" + url.PathEscape(name)
	answers := func(line string, status int) {
		t.Helper()
		if got, _, err := gw.send(line, ""); err != nil || (got == 401) != (status == 401) {
			t.Errorf("%s: %d, %v, want %d", line, got, err, status)
		}
	}
	admin := func(path, body, contains string) {
		t.Helper()
		if status, text := adminOf(t, gw.adminAddress(), "POST", site+path, body); status != 200 || !strings.Contains(text, contains) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	admin("/close", `{"route":"/acme/v1/x"}`, `"on":true`)
	admin("/open", `{"for":"1h","route":"/acme/v1/y"}`, `"on":true`)
	for range 2 {
		answers("GET /cms-json/acme/v1/x", 401)
		answers("GET /cms-json/acme/v1/y", 404)
		gw.stop()
		gw.Start()
	}
	admin("/open", `{"for":"0s","route":"/acme/v1/y"}`, `"on":false`)
	gw.stop()
	gw.Start()
	answers("GET /cms-json/acme/v1/x", 401)
	answers("GET /cms-json/acme/v1/y", 401)
	var kept []json.RawMessage
	files, _ := filepath.Glob(filepath.Join(gw.Dir(), "caddy", "restwarden", "*"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil || len(kept) == 0 {
		t.Errorf("%s: %v", text, err)
	}
}

// TestSwitchLines_First: what was closed before a restart is so for the first request, which may come before the app starts.
func TestSwitchLines_First(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", dir)
	var name string
	t.Run("before", func(t *testing.T) { name = provisioned(t, `{"platform":"cms"}`).sites[0].Name })
	kept := fmt.Sprintf(`[{"kind":"close","site":%q,"line":"/acme/v1/x","calls":[{"routes":["/acme/v1/x"]}],"set":%d}]`, name, time.Now().UnixNano())
	err := os.MkdirAll(filepath.Join(dir, "caddy", "restwarden"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "caddy", "restwarden", "switches.json"), []byte(kept), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := provisioned(t, `{"platform":"cms"}`).sites[0].Switches.Closes.Len(time.Now); n != 1 {
		t.Errorf("%d lines close calls", n)
	}
}

// TestGateways_SwitchLines: lines count on both gateways, also on one that starts later, whose Redis was lost, and after both have
// lost what they remember.
func TestGateways_SwitchLines(t *testing.T) {
	redis, p := redisrun.Start(t), newPlatform(t)
	store := "redis " + redis.Addr + " {\n\t\t\ttimeout 2s\n\t\t}"
	block := "\t@a host a.example\n\thandle @a {\n\trestwarden cms {\n\t\tlogin_only\n\t\tallow anyone /acme/v1/x\n\t}\n\t" + p.proxied() + "\n\t}\n"
	first, second := startProcess(t, store, block), startProcess(t, store, block)
	answers := func(what string, g *process, line string, closed bool) {
		t.Helper()
		wait.For(t, 10*time.Second, what, func() bool {
			got, _, err := g.send(line, "", "Host: a.example")
			return err == nil && (got == 401) == closed
		})
	}
	admin := func(g *process, path, body, contains string) {
		t.Helper()
		if status, text := adminOf(t, g.adminAddress(), "POST", "sites/a.example/"+path, body, adminapi.OperatorHeader+": Anna"); status != 200 || !strings.Contains(text, contains) {
			t.Errorf("%s %s: %d %s, want %s", path, body, status, text, contains)
		}
	}
	const x, y = "GET /cms-json/acme/v1/x", "GET /cms-json/acme/v1/y"
	answers("both run", first, x, false)
	answers("both run", second, x, false)
	time.Sleep(300 * time.Millisecond) // both connect
	admin(first, "close", `{"route":"/acme/v1/x"}`, `"gateways":"all"`)
	admin(second, "open", `{"for":"1h","route":"/acme/v1/y"}`, `"gateways":"all"`)
	answers("closed there", second, x, true)
	answers("opened there", first, y, false)
	second.stop()
	if err := os.RemoveAll(filepath.Join(second.Dir(), "caddy", "restwarden")); err != nil {
		t.Fatal(err)
	}
	second.Start()
	answers("closed on one that starts later", second, x, true)
	answers("opened on one that starts later", second, y, false)
	if _, text := adminOf(t, second.adminAddress(), "GET", "sites", ""); strings.Count(text, `"by":"127.0.0.1","operator":"Anna","claimed":true`) != 2 {
		t.Errorf("who it was is not known there: %s", text)
	}
	redis.Kill()
	admin(first, "close", `{"route":"/acme/v1/y"}`, `"gateways":"this one","error":"the other gateways could not be told`)
	answers("closed here without Redis", first, y, true)
	answers("open there", second, y, false)
	redis.Start()
	answers("closed there once Redis is back", second, y, true)
	admin(second, "close", `{"for":"0s","route":"/acme/v1/x"}`, `"gateways":"all"`)
	answers("the end on the other", first, x, false)
}
