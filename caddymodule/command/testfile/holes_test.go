package testfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/testfile"
)

// TestNever_Holes: a configuration with a way past the rules proves nothing, and one that
// nearly has it does.
func TestNever_Holes(t *testing.T) {
	const never = "never: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com }"
	const sub = "never: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com/blog }"
	for name, test := range map[string]struct {
		caddyfile, test string
		status          testfile.Status
		message         string
	}{
		"sound": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}", never, testfile.Passed, "proved",
		},
		"W01": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\nold.example.com {\nreverse_proxy 127.0.0.1:8080\n}", never,
			testfile.Failed, "Caddyfile:2: old.example.com leads to",
		},
		"another upstream": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\nold.example.com {\nreverse_proxy 127.0.0.1:8081\n}", never,
			testfile.Passed, "proved",
		},
		"W03": {
			"shop.example.com {\nrestwarden /wp-json/* wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}", never,
			testfile.Failed, "the gateway is not on the way",
		},
		"W03, for some methods": {
			"shop.example.com {\n@m method GET POST\nrestwarden @m wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}", never,
			testfile.Failed, "Caddyfile:3: the matchers",
		},
		"W10": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\ncall off\n}\nreverse_proxy 127.0.0.1:8080\n}", never,
			testfile.Failed, "Caddyfile:2: call off",
		},
		"observe": {
			"shop.example.com {\nrestwarden wordpress {\nmode observe\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}", never, testfile.Failed, "would be refused",
		},
		"access observes": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\naccess {\nmode observe\n}\n}\nreverse_proxy 127.0.0.1:8080\n}", never, testfile.Failed, "would be refused",
		},
		"access off": {
			"shop.example.com {\nrestwarden wordpress {\naccess off\n}\nreverse_proxy 127.0.0.1:8080\n}", never, testfile.Failed, "got pass",
		},
		"no directive": {
			"shop.example.com {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\nother.example.com {\nreverse_proxy 127.0.0.1:8081\n}",
			"never: { as: anonymous, routes: [/wp/v2/**], at: https://other.example.com }", testfile.Failed, "the gateway is not on the way",
		},
		"a base": {
			"shop.example.com {\nrestwarden wordpress {\nbase /blog\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}", sub, testfile.Passed, "proved",
		},
		"a base with an opening": {
			"shop.example.com {\nrestwarden wordpress {\nbase /blog\nlogin_only\nallow anyone /wp/v2/posts\n}\nreverse_proxy 127.0.0.1:8080\n}", sub,
			testfile.Failed, "https://shop.example.com/blog/wp-json/wp/v2/posts",
		},
		"no base, a path": {
			"shop.example.com {\nrestwarden wordpress {\nlogin_only\nallow anyone /wp/v2/posts\n}\nreverse_proxy 127.0.0.1:8080\n}", sub,
			testfile.Failed, "https://shop.example.com/blog/wp-json/wp/v2/posts",
		},
		"another prefix": {
			"shop.example.com {\nrestwarden wordpress {\nprefix api\nlogin_only\nallow anyone /wp/v2/posts\n}\nreverse_proxy 127.0.0.1:8080\n}", never,
			testfile.Failed, "https://shop.example.com/api/wp/v2/posts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(test.caddyfile), 0o600); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "a.test.yaml")
			if err := os.WriteFile(path, []byte("config: Caddyfile\ntests:\n- "+test.test+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := runFile(t, path, "")
			if err != nil {
				t.Fatal(err)
			}
			if o := report.Tests[0]; o.Status != test.status || !strings.Contains(o.Message(), test.message) {
				t.Errorf("%s %s", o.Status, o.Message())
			}
		})
	}
}
