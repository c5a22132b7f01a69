package gateway

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/restwarden/restwarden/policies"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

const goldenDir = "testdata/adapt"

// TestAdapt compares the JSON of Caddyfiles with the golden files of the directive.
func TestAdapt(t *testing.T) { golden(t, goldenDir, 50, adaptAndProvision) }

// golden holds every golden file of dir, of which there are at least some: a
// Caddyfile, a line of dashes, and what adapt makes of it, JSON or (error_…) the
// error that keeps it from loading.
func golden(t *testing.T, dir string, some int, adapt func(t *testing.T, source string) string) {
	t.Helper()
	t.Chdir(dir) // for files that policies open
	files, err := filepath.Glob("*.caddyfiletest")
	if err != nil || len(files) < some {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	t.Setenv("TEST_SECRET", "s3cret")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, want, ok := strings.Cut(string(b), "----------\n")
			if !ok {
				t.Fatal("no line of dashes")
			}
			got := adapt(t, source)
			if bad := strings.HasPrefix(filepath.Base(file), "error_"); bad == strings.HasPrefix(got, "{") || bad && !strings.Contains(got, "Caddyfile:") {
				t.Errorf("refused should be %v, with file and line: %s", bad, got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(source+"----------\n"+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want = strings.TrimSpace(want); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if strings.Contains(got, "s3cret") {
				t.Error("a secret shows")
			}
		})
	}
}

// adaptAndProvision returns the JSON of the Caddyfile's first handler, or the error.
func adaptAndProvision(t *testing.T, source string) string {
	t.Helper()
	config, failed := adapted(source, "provision http.handlers.restwarden: ")
	if failed != "" {
		return failed
	}
	return indented(t, firstRoute(t, config))
}

// adapted returns the JSON of a Caddyfile that loads. failed is the error, behind the words of Caddy
// that end in cut.
func adapted(source, cut string) (config []byte, failed string) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return nil, err.Error()
	}
	var cfg caddy.Config
	if err := caddy.StrictUnmarshalJSON(config, &cfg); err != nil {
		return nil, err.Error()
	}
	if err := caddy.Validate(&cfg); err != nil {
		_, text, found := strings.Cut(err.Error(), cut)
		if !found {
			return nil, err.Error()
		}
		return nil, text
	}
	return config, ""
}

func firstRoute(t *testing.T, config []byte) json.RawMessage {
	t.Helper()
	var parsed struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct{ Routes []json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(config, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed.Apps.HTTP.Servers["srv0"].Routes[0]
}

func indented(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestAdapt_Complete: every policy has its golden file and its page.
func TestAdapt_Complete(t *testing.T) {
	for _, e := range policies.Catalog {
		for _, file := range []string{
			filepath.Join(goldenDir, "policy_"+e.Name+".caddyfiletest"),
			filepath.Join("../..", "docs", "policies", e.Name+".md"),
		} {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("policy %s: %v", e.Name, err)
			}
		}
		for _, word := range e.Words {
			if found, ok := policies.Lookup(word); !ok || found.Name != e.Name {
				t.Errorf("option %s does not lead to %s", word, e.Name)
			}
		}
		if _, err := caddy.GetModule(policyNamespace + "." + e.Name); err != nil {
			t.Error(err)
		}
	}
}

// TestJSON_Errors: JSON has the checks of the Caddyfile, and the error names the field.
func TestJSON_Errors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                                                     "platform: cms or wordpress",
		`{"platform":"joomla"}`:                                                  `platform: "joomla"`,
		`{"platform":"cms","base":"blog"}`:                                       "base:",
		`{"platform":"cms","base":"/blog/"}`:                                     "base:",
		`{"platform":"cms","prefix":"api.v1"}`:                                   "any character",
		`{"platform":"cms","prefix":"/x"}`:                                       "prefix:",
		`{"platform":"cms","release":"new"}`:                                     "release",
		`{"platform":"cms","mode":"report"}`:                                     "mode:",
		`{"platform":"cms","request_id":"no"}`:                                   `request_id: "no" is neither on nor off`,
		`{"platform":"cms","body_limit":-1}`:                                     "body_limit:",
		`{"platform":"cms","bodylimit":1}`:                                       `unknown field "bodylimit"`,
		`{"platform":"cms","identity":{"rate":"x"}}`:                             "rate:",
		`{"platform":"cms","identity":{"ttl":-1}}`:                               "identity:",
		`{"platform":"cms","credentials":{"headers":["a b"]}}`:                   "credentials:",
		`{"platform":"cms","policies":{"acces":{}}}`:                             "unknown module",
		`{"platform":"cms","policies":{"access":{"rulez":[]}}}`:                  `unknown field "rulez"`,
		`{"platform":"cms","policies":{"access":{"mode":"x"}}}`:                  "mode:",
		`{"platform":"cms","policies":{"order_type":{"credential":"{env.NO}"}}}`: "order_type:",
	} {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
		_, err := ctx.LoadModuleByID("http.handlers.restwarden", json.RawMessage(text))
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
