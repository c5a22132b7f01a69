package testfile_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/command/testfile"
)

// Handlers of other modules are not in this build. Stand-ins with their names pass everything
// on, so that the Caddyfiles that have them load, and are sorted as their order lines say.
type (
	waf      struct{ passOn }
	crowdsec struct{ passOn }
	appsec   struct{ passOn }
	passOn   struct{}
)

func (passOn) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

func (waf) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.waf", New: func() caddy.Module { return new(waf) }}
}

func (crowdsec) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.crowdsec", New: func() caddy.Module { return new(crowdsec) }}
}

func (appsec) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.appsec", New: func() caddy.Module { return new(appsec) }}
}

func init() {
	for directive, handler := range map[string]interface {
		caddy.Module
		caddyhttp.MiddlewareHandler
	}{"coraza_waf": waf{}, "crowdsec": crowdsec{}, "appsec": appsec{}} {
		caddy.RegisterModule(handler)
		httpcaddyfile.RegisterHandlerDirective(directive, func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
			return handler, skip(h.Dispenser)
		})
	}
	httpcaddyfile.RegisterGlobalOption("crowdsec", func(d *caddyfile.Dispenser, _ any) (any, error) { return nil, skip(d) })
}

// skip reads over a directive and its block.
func skip(d *caddyfile.Dispenser) error {
	d.Next()
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		d.RemainingArgs()
	}
	return nil
}

var (
	// comingCaddyfile matches a Caddyfile of the page. One with handlers of other modules is text.
	comingCaddyfile = regexp.MustCompile("(?ms)^```(?:caddyfile|text)\n(.*?)^```")
	// comingRow matches a row of a table of calls: method, route, id of a record, who, and what
	// becomes of the call.
	comingRow = regexp.MustCompile("(?m)^\\| `([A-Z]+) (\\S+)`(, which is a subscription)? \\| ([a-z ]+) \\| .* \\| (.+) \\|$")
	refusal   = regexp.MustCompile("^([45]\\d\\d) `(\\w+)`$")
	orderID   = regexp.MustCompile(`/orders/(\d+)$`)
)

// comingAs is who calls, in the words of the page and of a test.
var comingAs = map[string]string{"anonymous": "anonymous", "customer": "user", "editor": "role:editor", "shop key": "key"}

// TestComingFrom: each Caddyfile of docs/guides/coming-from.md makes of the calls beside it what the
// page says, in every spelling; each of its rules decides one of them; and the handlers stand
// in the order that the page proposes.
func TestComingFrom(t *testing.T) {
	page, operations := readDoc(t, "guides/coming-from.md"), readDoc(t, "operations.md")
	for heading, handlers := range map[string][]string{
		"Disable REST API": {"log_append", "restwarden", "reverse_proxy"},
		"Wordfence":        {"restwarden", "reverse_proxy"},
		"Coraza with CRS":  {"waf", "restwarden", "reverse_proxy"},
		"CrowdSec":         {"crowdsec", "appsec", "restwarden", "reverse_proxy"},
	} {
		t.Run(heading, func(t *testing.T) {
			_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			blocks := comingCaddyfile.FindAllStringSubmatch(section, -1)
			_, table, _ := strings.Cut(section, "\n| call | who |")
			table, _, _ = strings.Cut(table, "\n\n")
			rows := comingRow.FindAllStringSubmatch(table, -1)
			if lines := strings.Count(table, "\n| `"); len(blocks) != 1 || len(rows) == 0 || len(rows) != lines {
				t.Fatalf("%d Caddyfiles, %d calls of %d", len(blocks), len(rows), lines)
			}
			if got := handlersOf(t, blocks[0][1]); !slices.Equal(got, handlers) {
				t.Errorf("handlers %v, want %v", got, handlers)
			}
			var tests strings.Builder
			for _, row := range rows {
				tests.WriteString(comingTest(t, operations, row))
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"Caddyfile": blocks[0][1], "calls.test.yaml": "tests:\n" + tests.String()} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			report, err := runFile(t, filepath.Join(dir, "calls.test.yaml"), filepath.Join(dir, "Caddyfile"))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range report.Tests {
				if o.Status != testfile.Passed {
					t.Error(o.Message())
				}
			}
			if len(report.Untested) > 0 {
				t.Errorf("no call is decided by %v", report.Untested)
			}
		})
	}
}

// comingTest writes the test of a row.
func comingTest(t *testing.T, operations string, row []string) string {
	t.Helper()
	method, route, who, becomes := row[1], row[2], row[4], row[5]
	as, known := comingAs[who]
	refused := refusal.FindStringSubmatch(becomes)
	expect := "pass"
	switch {
	case refused != nil:
		listed := fmt.Sprintf("| %s | `%s` |", refused[1], strings.Replace(refused[2], "woocommerce_rest_", "…", 1))
		if !strings.Contains(operations, listed) {
			t.Errorf("%s is no refusal of operations.md", becomes)
		}
		expect = "{ refused: " + refused[2] + " }"
	case becomes != "passes" && !strings.HasPrefix(becomes, "passes, "):
		t.Errorf("%s %s: what is %q?", method, route, becomes)
	}
	if !known {
		t.Errorf("%s %s: who is %q?", method, route, who)
	}
	test := fmt.Sprintf("  - request: %s https://shop.example.com/wp-json%s\n    as: %s\n    spellings: all\n    expect: %s\n", method, route, as, expect)
	if id := orderID.FindStringSubmatch(route); id != nil {
		kind := "order"
		if row[3] != "" {
			kind = "subscription"
		}
		test += fmt.Sprintf("    json: { status: completed }\n    ids: { %s: %s }\n", id[1], kind)
	}
	return test
}

// handlersOf returns the handlers of a Caddyfile's site, in the order in which they run.
func handlersOf(t *testing.T, text string) (names []string) {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(adapted)))
	for {
		token, err := decoder.Token()
		if err != nil {
			return names
		}
		if token != "handler" {
			continue
		}
		if token, err = decoder.Token(); err != nil {
			t.Fatal(err)
		}
		if name := fmt.Sprint(token); name != "subroute" {
			names = append(names, name)
		}
	}
}

// readDoc returns a page of docs.
func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(root + "docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComingFrom_Order: the order lines that the page names for both kinds of handlers, and a
// route block, put all of them before the gateway.
func TestComingFrom_Order(t *testing.T) {
	page := readDoc(t, "guides/coming-from.md")
	orders := []string{"order coraza_waf first", "order crowdsec before coraza_waf", "order appsec after crowdsec"}
	for _, line := range orders {
		if !strings.Contains(page, line) {
			t.Errorf("the page does not name %q", line)
		}
	}
	site := "shop.example.com {\n\trestwarden wordpress\n\tcoraza_waf\n\treverse_proxy 127.0.0.1:8080\n\tappsec\n\tcrowdsec\n}\n"
	route := "shop.example.com {\n\troute {\n\t\tcrowdsec\n\t\tappsec\n\t\tcoraza_waf\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n"
	want := []string{"crowdsec", "appsec", "waf", "restwarden", "reverse_proxy"}
	for _, text := range []string{"{\n\t" + strings.Join(orders, "\n\t") + "\n}\n" + site, route} {
		if got := handlersOf(t, text); !slices.Equal(got, want) {
			t.Errorf("handlers %v of\n%s", got, text)
		}
	}
}
