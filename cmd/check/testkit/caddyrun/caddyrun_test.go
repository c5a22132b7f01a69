package caddyrun

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestStart: two sites at addresses of their own, a reload, and a log.
func TestStart(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	f := &File{Log: "file " + log, Sites: []Site{{Body: "respond one"}, {Body: "respond two"}}}
	Start(t, f)
	ask := func(i int) string {
		t.Helper()
		req, err := client.Request(t.Context(), "http://"+f.Addresses()[i], "GET /", "", client.Lines("Host: any.example"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Do(client.New(), req)
		if err != nil || got.Status != http.StatusOK {
			t.Fatal(got, err)
		}
		return got.Body
	}
	if one, two := ask(0), ask(1); one != "one" || two != "two" {
		t.Error(one, two)
	}
	f.Sites[0].Body = "respond again"
	Load(t, f)
	// Caddy closes the listeners of the old configuration in the background.
	wait.For(t, 5*time.Second, "the new configuration", func() bool { return ask(0) == "again" })
	if two := ask(1); two != "two" {
		t.Error(two)
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), `"msg":`) {
		t.Errorf("the log is %q, %v", text, err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	f := &File{Admin: "127.0.0.1:2", Global: TrustLoopback, storage: "/s", Sites: []Site{{Address: "127.0.0.1:3", Secure: true}, {Address: "127.0.0.1:4", Bind: "fd/3"}}}
	text := f.String()
	for _, want := range []string{"\tadmin 127.0.0.1:2\n", "file_system /s\n", "trusted_proxies", "https://127.0.0.1:3 {\n\tbind 127.0.0.1\n", "http://:4 {\n\tbind fd/3\n", "output discard"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	Adapt(t, text)
}
