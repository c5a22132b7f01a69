package gateway

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/logging"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

var exampleBlock = regexp.MustCompile("(?ms)^```(caddyfile|json)\n(.*?)^```")

var placeholder = regexp.MustCompile(`\{env\.(\w+)\}`)

// TestDocs_Examples loads every Caddyfile and every handler in JSON of the
// README and the docs as far as caddy validate does. Files that they name without a
// directory stand among the golden files.
func TestDocs_Examples(t *testing.T) {
	pages := []string{"../../README.md"}
	err := fs.WalkDir(os.DirFS("../.."), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, filepath.Join("../..", path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(pages))
	for i, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
		for _, m := range placeholder.FindAllStringSubmatch(texts[i], -1) {
			t.Setenv(m[1], "ck_a:cs_b") // any secret, a shop key among them
		}
	}
	t.Chdir(goldenDir) // for files that policies open
	blocks := map[string]int{}
	for n, page := range pages {
		for i, m := range exampleBlock.FindAllStringSubmatch(texts[n], -1) {
			if m[1] == "json" && !strings.Contains(m[2], `"handler"`) {
				continue // an answer
			}
			blocks[m[1]]++
			t.Run(fmt.Sprintf("%s/%s %d", page[3:], m[1], i+1), func(t *testing.T) {
				if m[1] == "json" {
					validate(t, `{"apps":{"http":{"servers":{"s":{"routes":[{"handle":[`+m[2]+`]}]}}}}}`)
					return
				}
				adapted := adapt(t, m[2])
				validate(t, adapted)
				notOdd(t, adapted)
			})
		}
	}
	if blocks["caddyfile"] == 0 || blocks["json"] == 0 {
		t.Errorf("examples found: %v", blocks)
	}
}

// TestExample_NotOdd: nothing in Caddyfile.example is odd.
func TestExample_NotOdd(t *testing.T) {
	example, err := os.ReadFile("../../Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	notOdd(t, adapt(t, string(example)))
}

// notOdd holds that a survey finds nothing in an example.
func notOdd(t *testing.T, adapted string) {
	t.Helper()
	if report := surveyedJSON(t, []byte(adapted)); foundIn(report) != "" {
		t.Errorf("odd: %+v", report)
	}
}

func adapt(t *testing.T, source string) string {
	t.Helper()
	adapted, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, warnings)
	}
	if !strings.Contains(string(adapted), `"restwarden"`) {
		t.Error("the directive is missing")
	}
	return string(adapted)
}

func validate(t *testing.T, source string) {
	t.Helper()
	var config caddy.Config
	if err := caddy.StrictUnmarshalJSON([]byte(source), &config); err != nil {
		t.Fatal(err)
	}
	if err := caddy.Validate(&config); err != nil {
		t.Error(err)
	}
}

// runSignatureExample runs the commands of signature.md, whose last one calls the site. The
// same call once more must be refused.
func runSignatureExample(t *testing.T, site string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/policies/signature.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "## Example\n")
	_, example, opened := strings.Cut(example, "```text\n")
	example, _, closed := strings.Cut(example, "```")
	at := strings.LastIndex(example, "curl ")
	if !found || !opened || !closed || at < 0 {
		t.Fatal("signature.md has no example that ends with curl")
	}
	example = strings.Replace(example+example[at:], "curl ", "curl -s -w '%{http_code}\n' -o /dev/null ", 2)
	out, err := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(example, "https://shop.example.com", site)).CombinedOutput()
	if got := string(out); err != nil || got != "200\n401\n" {
		t.Errorf("the example and its repetition: %q, %v; want 200, 401", got, err)
	}
}

// TestExample_Served runs Caddyfile.example, with other addresses, in front of a
// site that answers everything.
func TestExample_Served(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"answer":"of the site"}`)
	}))
	defer site.Close()
	address, metrics, log := machine.FreeAddress(t), machine.FreeAddress(t), filepath.Join(t.TempDir(), "access.log")
	_, metricsPort, _ := net.SplitHostPort(metrics)
	t.Setenv("SITE_ADDRESS", "http://"+address)
	t.Setenv("COOKIE_PLUGIN_KEY", "key-secret")
	t.Setenv("SHOP_READ_KEY", "ck_a:cs_b")
	example, err := os.ReadFile("../../Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	source := string(example)
	for was, is := range map[string]string{
		"\tmetrics\n}":              "\tmetrics\n\tadmin off\n\tpersist_config off\n}",
		"127.0.0.1:8080":            site.Listener.Addr().String(),
		":9180":                     ":" + metricsPort,
		"log {\n\t\tformat filter ": "log {\n\t\toutput file " + log + "\n\t\tformat filter ",
	} {
		if strings.Count(source, was) != 1 {
			t.Fatalf("Caddyfile.example has no single %q", was)
		}
		source = strings.Replace(source, was, is, 1)
	}
	if err := caddy.Load([]byte(adapt(t, source)), true); err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, addr: address, url: "http://" + address}
	for line, want := range map[string]int{
		"GET /":                                    http.StatusOK,
		"GET /wp-json/wp/v2/users":                 http.StatusUnauthorized,
		"GET /?rest_route=/wp/v2/users":            http.StatusUnauthorized,
		"POST /wp-json/complianz/v1/track":         http.StatusOK,
		"GET /wp-json/complianz/v1/track":          http.StatusUnauthorized,
		"GET /wp-json/wc/store/v1/cart":            http.StatusOK,
		"POST /wp-json/cookie/v1/store-auth":       http.StatusUnauthorized,
		"POST /wp-json/cookie/v1/upload-logo":      http.StatusForbidden,
		"GET /wp-json/old-plugin/v1/settings":      http.StatusNotFound,
		"GET /wp-json/wp/v2/posts?x=wp-json/wc/":   http.StatusBadRequest,
		"GET /?a=1&consumer_secret=query-secret-1": http.StatusOK,
		"POST /wp-json/mcp/v1/path-secret-1/sse":   http.StatusForbidden,
		"POST /wp-json/MCP//v1/upload/path-secret": http.StatusBadRequest,
		"GET /?rest_route=/mcp/v1/path-secret-2":   http.StatusUnauthorized,
		"GET /?rest_route=%2Fmcp%2Fv1%2Fpath-secr": http.StatusUnauthorized,
		"GET /wp-json/mcp/v1/http":                 http.StatusUnauthorized,
	} {
		if got := g.do(line, "", "X-Signature: header-secret"); got.status != want {
			t.Errorf("%s: %d %s, want %d", line, got.status, got.body, want)
		}
	}
	runSignatureExample(t, g.url)
	m := &gateway{t: t, url: "http://127.0.0.1:" + metricsPort}
	if got := m.do("GET /metrics", ""); !strings.Contains(got.body, "caddy_restwarden_decisions_total") {
		t.Errorf("metrics: %d", got.status)
	}
	if err := caddy.Stop(); err != nil { // the log is complete
		t.Fatal(err)
	}
	logged, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"query-secret-1", "header-secret", "key-secret", "path-secr"} {
		if strings.Contains(string(logged), secret) {
			t.Errorf("the access log holds %s: %s", secret, logged)
		}
	}
	if !strings.Contains(string(logged), `"rest_code":"rest_not_logged_in"`) {
		t.Error("the access log does not say what was refused")
	}
}
