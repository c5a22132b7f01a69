package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

func TestMain(m *testing.M) { caddyrun.Main(m) }

// TestBinary_JSON: the demo as a program that another program reads.
func TestBinary_JSON(t *testing.T) {
	cmd, err := machine.Command(t.Context(), t.TempDir(), caddyrun.Binary(t), "restwarden", "demo", "--json")
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := json.NewDecoder(stdout)
	var raw map[string]json.RawMessage
	if err := printed.Decode(&raw); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, key := range []string{"gateway", "backend", "platform", "release", "users", "orders", "subscriptions", "products", "routes", "keys", "prefix", "try"} {
		if raw[key] == nil {
			t.Errorf("no %q", key)
		}
	}
	var d runningDemo
	whole, _ := json.Marshal(raw)
	if err := json.Unmarshal(whole, &d); err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+$`)
	if !url.MatchString(d.Gateway) || !url.MatchString(d.Backend) || d.Platform != "cms" || d.Release != "10.7" {
		t.Errorf("%+v", d)
	}
	if d.Users["admin"].Password == "" || d.Users["manager"].ApplicationPassword == "" || len(d.Orders) == 0 || len(d.Subscriptions) == 0 ||
		len(d.Products) == 0 || d.Keys.FeedPublicID == "" || d.Keys.CookiePlugin == "" || !strings.HasPrefix(d.Routes.Consent, "/consent/") {
		t.Errorf("%+v", d.Info)
	}
	if d.Prefix != "cms-json" || len(d.Try) == 0 || d.Try[0] != "BARE="+d.Backend+"/cms-json" {
		t.Errorf("prefix %q, lines to try:\n%s", d.Prefix, strings.Join(d.Try, "\n"))
	}
	for address, status := range map[string]int{d.Gateway: http.StatusUnauthorized, d.Backend: http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/cms-json/cms/v2/users", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := httpClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: %d", address, res.StatusCode)
		}
	}
	httpClient.CloseIdleConnections()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(io.MultiReader(printed.Buffered(), stdout))
	if err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("more than the object on standard output: %q %v", rest, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("interrupted: %v\n%s", err, stderr.String())
		}
	case <-time.After(20 * time.Second):
		t.Error("an interrupt does not end it")
	}
}
