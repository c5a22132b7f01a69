package testfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/testfile"
)

const (
	never = "never: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com }"
	sub   = "never: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com/blog }"
)

// mixedScope has a scope whose key is nobody outside of the shop's routes, and whose password is somebody.
const mixedScope = "shop.example.com {\nrestwarden wordpress {\nlogin_only\nscope both {\nkey a1b2c3d\npassword 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11\nallow /wp/v2/posts\n}\n}\nreverse_proxy 127.0.0.1:8080\n}"

// holes are configurations with a way past the rules, and some that nearly have one.
var holes = map[string]struct {
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
	"a scope of two kinds": {
		mixedScope, "never: { as: \"scope:both\", calls: POST, routes: [/wp/v2/posts], at: https://shop.example.com }",
		testfile.Unknown, "A password of scope:both breaks it with POST https://shop.example.com/wp-json/wp/v2/posts.",
	},
	"what neither kind may": {
		mixedScope, "never: { as: \"scope:both\", calls: POST, routes: [/wp/v2/pages], at: https://shop.example.com }", testfile.Passed, "proved",
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
	"W09, always": {
		"shop.example.com {\nroute {\nrestwarden wordpress {\nlogin_only\n}\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\n}",
		"always: { as: anonymous, routes: [/x/**], at: https://shop.example.com }", testfile.Unknown, "W09 at",
	},
	"always, a method that Caddy answers": {
		"shop.example.com {\n@read method GET HEAD\nhandle @read {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\nhandle {\nrespond gone 404\n}\n}",
		"always: { as: anonymous, calls: [GET, PUT], routes: [/x/posts], at: https://shop.example.com }", testfile.Failed, "PUT: the gateway is not on the way",
	},
	"a respond in place of the site, always": {
		"shop.example.com {\nrestwarden wordpress\nrespond 404\n}",
		"always: { as: anonymous, routes: [/x/posts/**], at: https://shop.example.com }", testfile.Failed, "respond 404 answers behind the gateway",
	},
	"a respond for some path of the routes, always": {
		"shop.example.com {\nrestwarden wordpress\nrespond /wp-json/x/posts/* 403\nreverse_proxy 127.0.0.1:8080\n}",
		"always: { as: anonymous, calls: [GET], routes: [/x/posts/**], at: https://shop.example.com }", testfile.Failed, "respond 403 answers behind the gateway",
	},
	"a respond for another path, always": {
		"shop.example.com {\nrestwarden wordpress\nrespond /xmlrpc.php 403\nrespond /wp-json/y/* 403\nreverse_proxy 127.0.0.1:8080\n}",
		"always: { as: anonymous, calls: [GET], routes: [/x/posts], at: https://shop.example.com }", testfile.Passed, "proved",
	},
	"a respond in place of the site": {
		"shop.example.com {\nrestwarden wordpress\nrespond 404\n}",
		"{ request: GET https://shop.example.com/wp-json/x/posts, as: anonymous, expect: pass }", testfile.Failed, "does not come to the site: respond 404 answers",
	},
	"another directive behind a matcher": {
		"shop.example.com {\n@beta header X-Beta *\nhandle @beta {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\nhandle {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\n}", never,
		testfile.Unknown, "Caddyfile:4 judges some requests",
	},
	"another directive behind a matcher, always": {
		"shop.example.com {\n@odd method PROPFIND\nhandle @odd {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\nhandle {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\n}",
		"always: { as: anonymous, routes: [/x/posts], at: https://shop.example.com }", testfile.Unknown, "Caddyfile:4 judges some requests",
	},
	"another directive that a run reaches": {
		"shop.example.com {\n@posts rest_call /wp/v2/posts\nhandle @posts {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\nhandle {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\n}",
		"never: { as: anonymous, routes: [/wp/v2/posts], at: https://shop.example.com }", testfile.Failed, "https://shop.example.com/wp-json/wp/v2/posts",
	},
	"another directive with rules as strict": {
		"shop.example.com {\n@beta header X-Beta *\nhandle @beta {\nrestwarden wordpress {\nlogin_only\nallow anyone /beta/**\n}\nreverse_proxy 127.0.0.1:8080\n}\nhandle {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\n}", never,
		testfile.Passed, "proved",
	},
	"another prefix": {
		"shop.example.com {\nrestwarden wordpress {\nprefix api\nlogin_only\nallow anyone /wp/v2/posts\n}\nreverse_proxy 127.0.0.1:8080\n}", never,
		testfile.Failed, "https://shop.example.com/api/wp/v2/posts",
	},
}

// TestNever_Holes: a configuration with a way past the rules proves nothing, and one that
// nearly has it does.
func TestNever_Holes(t *testing.T) {
	for name, test := range holes {
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

// TestProofs_Index: with a saved index a proof speaks of the routes of that site, and of
// nothing if there are none.
func TestProofs_Index(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Caddyfile":  "shop.example.com {\nrestwarden wordpress {\nlogin_only\nallow anyone /wp/v2/secret\n}\nreverse_proxy 127.0.0.1:8080\n}",
		"index.json": `{"namespaces":["wp/v2"],"routes":{"/wp/v2/posts":{"methods":["GET"]},"/wp/v2/posts/(?P<id>[\\d]+)":{"methods":["GET"]}}}`,
		"a.yaml": `config: Caddyfile
index: index.json
tests:
- never: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com }
- always: { as: user, routes: [/wp/v2/**], at: https://shop.example.com }
- always: { as: anonymous, routes: [/wp/v2/**], at: https://shop.example.com }
- never: { as: anonymous, routes: [/wp/v2/**, /wp/v3/**], at: https://shop.example.com }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := runFile(t, filepath.Join(dir, "a.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"got proved", "got proved", "got refused (rest_not_logged_in) by access as anonymous: GET https://shop.example.com/wp-json/wp/v2/posts", "the saved index has no call of /wp/v3/**"} {
		if o := report.Tests[i]; !strings.Contains(o.Message(), want) {
			t.Errorf("%s: %s", o.Name, o.Message())
		}
	}
}

// TestSpellings_Key: a shop key counts where the address names the shop, so that only those
// spellings are the same call.
func TestSpellings_Key(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Caddyfile": "shop.example.com {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}",
		"a.yaml": `config: Caddyfile
tests:
- { request: PUT https://shop.example.com/wp-json/wc/v3/orders/7, json: {status: completed}, as: key, ids: {7: order}, spellings: all, expect: pass }
- { request: PUT https://shop.example.com/wp-json/wc/v3/orders/7, json: {status: completed}, as: key, ids: {7: subscription}, spellings: all, expect: refused }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := runFile(t, filepath.Join(dir, "a.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Tests {
		if o.Status != testfile.Passed || o.Requests < 5 {
			t.Errorf("%d requests, %s: %s", o.Requests, o.Status, o.Message())
		}
	}
}
