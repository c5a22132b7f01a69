package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestBinary_JSON: the demo as a program that another program reads.
func TestBinary_JSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "caddy")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), path, "restwarden", "demo", "--json")
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
	for _, key := range []string{"gateway", "backend", "platform", "release", "users", "orders", "subscriptions", "products", "routes", "keys"} {
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
	for address, status := range map[string]int{d.Gateway: http.StatusUnauthorized, d.Backend: http.StatusOK} {
		res, err := client.Get(address + "/cms-json/cms/v2/users")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: %d", address, res.StatusCode)
		}
	}
	client.CloseIdleConnections()
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

// curlLines are what each line of the text form answers, in order: lines
// against the bare platform, and lines through the gateway.
var curlLines = []struct {
	line   string // a part of it
	status int
	code   string // in the answer
}{
	{"$BARE/cms/v2/users", 200, `"slug":"admin"`},
	{"$GATE/cms/v2/users", 401, "rest_not_logged_in"},
	{"rest.route=/cms/v2/users", 401, "rest_not_logged_in"},
	{"-d rest_route=/cms/v2/users", 401, "rest_not_logged_in"},
	{`-u "$ADMIN" $GATE/cms/v2/users`, 200, `"slug":"admin"`},
	{"$GATE/consent/v1/consent", 200, `"success":true`},
	{"$GATE/pay/v1/notify", 200, `"received":true`},
	{"$GATE/shop/v3/orders/SUB", 400, "shop_rest_shop_order_invalid_id"},
	{`"id":SUB}' $GATE/shop/v3/orders/ORDER`, 400, "shop_rest_shop_order_invalid_id"},
	{`$GATE/shop/v3/orders/ORDER`, 200, `"customer_note":"x"`},
	{"$BARE/shop/v3/orders/SUB", 200, `"customer_note":"x"`},
	{"$GATE/shop/v3/orders/SECOND/refunds", 400, "shop_rest_compute_totals_unsupported"},
	{"$BARE/shop/v3/orders/SECOND/refunds", 201, `"amount":""`},
	{"$GATE/shop/store/v1/cart/add-item", 201, `"total_price":"1000"`},
	{"$GATE/shop/store/v1/checkout", 409, "shop_rest_checkout_total_mismatch"},
	{"$BARE/feed/troubleshooting", 200, `"access_token"`},
	{"$GATE/feed/troubleshooting", 401, "rest_not_logged_in"},
	{`-u "$ADMIN" $GATE/feed/troubleshooting`, 200, "[redacted]"},
	{"$GATE/cookie/v1/upload-logo", 403, "rest_forbidden"},
	{"$GATE/cookie/v1/store-auth", 200, `"success":true`},
}

// TestDemo_CurlLines: every line that the text form prints works as it stands.
func TestDemo_CurlLines(t *testing.T) {
	for name, options := range map[string]site.Options{
		"default": {Release: "10.7", Platform: "cms"}, "sub-folder": {Release: "10.7", Platform: "cms", Base: "/blog"},
		"wordpress": {Release: "10.7", Platform: "wordpress"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlatform(t, options)
			d := demo{options: options, listen: "127.0.0.1:0"}
			running, err := d.startGateway(w.startTap(), w.info)
			if err != nil {
				t.Fatal(err)
			}
			stopCaddy(t)
			text, err := running.text()
			if err != nil {
				t.Fatal(err)
			}
			lines, answers := runCurl(t, text)
			if len(lines) != len(curlLines) {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), len(curlLines), strings.Join(lines, "\n"))
			}
			ids := strings.NewReplacer("SUB", fmt.Sprint(w.info.Subscriptions[0]), "ORDER", fmt.Sprint(w.info.Orders[0]),
				"SECOND", fmt.Sprint(w.info.Orders[1]))
			for i, want := range curlLines {
				if part := w.branded(ids.Replace(want.line)); !strings.Contains(lines[i], part) {
					t.Errorf("line %d is %s, want %s", i, lines[i], part)
				}
				if a := answers[i]; !strings.HasSuffix(a, fmt.Sprintf("\n%d", want.status)) || !strings.Contains(a, w.branded(want.code)) {
					t.Errorf("%s\nanswered %.300s\nwant %d %s", lines[i], a, want.status, want.code)
				}
			}
		})
	}
}

// runCurl runs the indented lines of a text in one shell, and returns those
// that begin with curl with their answers, each with its status as last line.
func runCurl(t *testing.T, text string) (lines, answers []string) {
	t.Helper()
	const separator = "\x1e"
	script := []string{`curl() { command curl -w '\n%{http_code}` + separator + `' "$@"; }`}
	_, commands, _ := strings.Cut(text, "then through the gateway:")
	for line := range strings.Lines(commands) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "curl "):
			lines = append(lines, line)
			script = append(script, line)
		case regexp.MustCompile(`^[A-Z]+=`).MatchString(line):
			script = append(script, line)
		}
	}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(script, "\n")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers = strings.Split(string(out), separator)
	answers = slices.DeleteFunc(answers, func(a string) bool { return strings.TrimSpace(a) == "" })
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(lines), out)
	}
	return lines, answers
}
