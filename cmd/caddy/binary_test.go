package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
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
	if !url.MatchString(d.Gateway) || !url.MatchString(d.Backend) || d.Platform != "wordpress" || d.Release != "10.7" {
		t.Errorf("%+v", d)
	}
	if d.Users["admin"].Password == "" || d.Users["manager"].ApplicationPassword == "" || len(d.Orders) == 0 || len(d.Subscriptions) == 0 ||
		len(d.Products) == 0 || d.Keys.FeedPublicID == "" || d.Keys.CookiePlugin == "" || !strings.HasPrefix(d.Routes.Consent, "/consent/") {
		t.Errorf("%+v", d.Info)
	}
	if d.Prefix != "wp-json" || len(d.Try) == 0 || d.Try[0] != "BARE="+d.Backend+"/wp-json" {
		t.Errorf("prefix %q, lines to try:\n%s", d.Prefix, strings.Join(d.Try, "\n"))
	}
	for address, status := range map[string]int{d.Gateway: http.StatusUnauthorized, d.Backend: http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/wp-json/wp/v2/users", nil)
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
	interrupt(t, cmd, io.MultiReader(printed.Buffered(), stdout), &stderr)
}

// interrupt ends the demo as a person would. It must print nothing more.
func interrupt(t *testing.T, cmd *exec.Cmd, stdout io.Reader, stderr *bytes.Buffer) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stdout)
	if err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("more on standard output: %q %v", rest, err)
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

// TestBinary_Demo: the demo as a person starts it. The table comes first, a refusal has a
// line, and nothing is written but in the directory for temporary files, where nothing stays.
func TestBinary_Demo(t *testing.T) {
	home, temp := t.TempDir(), demoDir(t)
	cmd, err := machine.Command(t.Context(), t.TempDir(), caddyrun.Binary(t), "restwarden", "demo", "--users")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"TMPDIR=" + temp, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		cmd.Env = append(cmd.Env, name+"="+home)
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
	lines := bufio.NewScanner(stdout)
	until := func(begin string) (text string) {
		t.Helper()
		for lines.Scan() {
			text += lines.Text() + "\n"
			if strings.HasPrefix(lines.Text(), begin) {
				return text
			}
		}
		t.Fatalf("no %q in\n%s\n%s", begin, text, stderr.String())
		return text
	}
	text := until("Interrupt to stop.")
	if !strings.HasPrefix(text, "ATTACKS ") || !strings.Contains(text, "\nattacks: 15 through") || !strings.Contains(text, "application password") {
		t.Error(text)
	}
	gateway := regexp.MustCompile(`(?m)^  gateway +(http://127\.0\.0\.1:\d+/)$`).FindStringSubmatch(text)
	if gateway == nil {
		t.Fatal(text)
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	} else if about, err := entries[0].Info(); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("others reach its admin endpoint: %v %v", about, err)
	}
	answersOf(t, gateway[1], "wp-json/wp/v2/users", http.StatusUnauthorized, `"rest_not_logged_in"`)
	page := regexp.MustCompile(`(?m)^  status page +(http://127\.0\.0\.1:\d+/)(\S+/)$`).FindStringSubmatch(text)
	if page == nil {
		t.Fatal(text)
	}
	answersOf(t, page[1], page[2]+"sites", http.StatusOK, `"problems":[]`)
	until("") // an empty line
	if line := until(""); !strings.HasSuffix(line, "  rest_not_logged_in  GET /wp/v2/users  access: built-in rule\n") {
		t.Error(line)
	}
	httpClient.CloseIdleConnections()
	interrupt(t, cmd, stdout, &stderr)
	if stderr.Len() > 0 {
		t.Errorf("on standard error: %s", stderr.String())
	}
	for _, dir := range []string{home, temp} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("left behind in %s: %v %v", dir, entries, err)
		}
	}
}

// TestBinary_Error: an error of the demo is exit status 1, and one line.
func TestBinary_Error(t *testing.T) {
	out, err := machine.Run(t.Context(), t.TempDir(), nil, caddyrun.Binary(t), "restwarden", "demo", "--release", "9.0")
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 || !strings.HasPrefix(out, "Error: demo: --release: ") || strings.Count(out, "\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

// answersOf asks for a path below an address.
func answersOf(t *testing.T, address, path string, status int, contains string) {
	t.Helper()
	req, err := client.Request(t.Context(), address, "GET "+path, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Do(httpClient, req); err != nil || got.Status != status || !strings.Contains(got.Body, contains) {
		t.Errorf("%s%s: %v, %v", address, path, got, err)
	}
}
