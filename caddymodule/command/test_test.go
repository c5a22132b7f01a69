package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestTest_Completion: a shell offers files of tests, formats and adapters.
func TestTest_Completion(t *testing.T) {
	for args, want := range map[string]string{
		"test --format ":  "text\njson\njunit\ngithub\n:4\n",
		"test --adapter ": "caddyfile\njson\n:4\n",
		"test ":           "yaml\nyml\n:8\n",
	} {
		cmd := &cobra.Command{Use: "restwarden"}
		build(cmd)
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append([]string{"__complete"}, strings.Split(args, " ")...))
		if err := cmd.Execute(); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: %v\n%s", args, err, out.String())
		}
	}
}

// What "caddy restwarden test" says in TestEveryCaddy.
const (
	unknownText = `testdata/test/unknown.test.yaml:3: what is 4711?: expected pass, got cannot be known: it depends on what record 4711 is (ids: { 4711: order }, subscription or none)
    curl -i -u 'ck_…:cs_…' -X PUT -H 'Content-Type: application/json' --data-raw '{"status":"completed"}' https://shop.example.com/wp-json/wc/v3/orders/4711
    caddy restwarden explain --config testdata/test/Caddyfile --as key -X PUT -H 'Content-Type: application/json' --data-raw '{"status":"completed"}' https://shop.example.com/wp-json/wc/v3/orders/4711
No test was decided by:
  login_only at testdata/test/Caddyfile:3
0 passed, 1 failed
`
	failedText = `testdata/test/failed.test.yaml:2: GET https://shop.example.com/wp-json/wp/v2/posts: expected pass, got refused (rest_not_logged_in) by access (login_only at testdata/test/Caddyfile:3): A rule asks for a login for this call, and the caller sent none that counts here.
    curl -i -X GET https://shop.example.com/wp-json/wp/v2/posts
    caddy restwarden explain --config testdata/test/Caddyfile --as anonymous -X GET https://shop.example.com/wp-json/wp/v2/posts
1 passed, 1 failed
`
	untestedJSON = `{
	"v": 1,
	"passed": 1,
	"failed": 0,
	"tests": [
		{
			"file": "testdata/test/page.test.yaml",
			"line": 3,
			"name": "GET https://shop.example.com/",
			"status": "passed",
			"expected": "page",
			"got": "page",
			"requests": 1
		}
	],
	"untested": [
		{
			"rule": "login_only",
			"at": "testdata/test/Caddyfile:3"
		}
	]
}
`
)
