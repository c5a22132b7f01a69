package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

const pluginsFile = `shop.example.com {
	restwarden wordpress {
		login_only
		allow plugin complianz-gdpr contact-form-7
		deny plugin wordpress
		allow users GET /acme/v1/**
	}
	reverse_proxy 127.0.0.1:8080
}
`

// TestExplain_Plugins: the rules of a plugin are one line, or the row that matched. With
// --verbose and in JSON they are all there.
func TestExplain_Plugins(t *testing.T) {
	t.Parallel()
	const at = "https://shop.example.com/wp-json"
	for _, test := range []struct {
		args, url string
		status    int
		want      []string
		not       string
	}{
		{"-X POST", "/complianz/v1/track", 0, []string{"rule     plugin complianz-gdpr: allow anyone POST /complianz/v1/track", "matches                      plugin complianz-gdpr: allow anyone POST /complianz/v1/track\n", "  for other methods or routes  deny plugin wordpress, 8 rules\n"}, "complianz-gdpr, "},
		{"-X POST", "/contact-form-7/v1/contact-forms/5/feedback", 0, []string{"  plugin complianz-gdpr, 8 rules\n", "  plugin contact-form-7: allow anyone POST /contact-form-7/v1/contact-forms/*/feedback\n"}, "track"},
		{"", "/acme/v1/x", 1, []string{"  plugin complianz-gdpr, 8 rules\n", "  plugin contact-form-7, 3 rules\n", "matches"}, "track"},
		{"", "/wp/v2/search", 1, []string{"rule     deny plugin wordpress: allow users GET /wp/v2/search", "matches                      deny plugin wordpress: allow users GET /wp/v2/search\n"}, "track"},
		{"-v", "/acme/v1/x", 1, []string{"plugin complianz-gdpr: allow anyone POST /complianz/v1/track\n", "plugin contact-form-7: allow anyone GET /contact-form-7/v1/contact-forms/*/refill\n"}, " rules\n"},
	} {
		out, problems, status := explain(t, pluginsFile, append(strings.Fields(test.args), at+test.url)...)
		if status != test.status {
			t.Errorf("%s: exit status %d\n%s\n%s", test.url, status, out, problems)
		}
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: there is no %q in\n%s", test.url, want, out)
			}
		}
		if strings.Contains(out, test.not) {
			t.Errorf("%s: there is %q in\n%s", test.url, test.not, out)
		}
	}
}

// TestExplain_PluginsJSON: each rule that was considered is there, with what it says.
func TestExplain_PluginsJSON(t *testing.T) {
	t.Parallel()
	out, problems, _ := explain(t, pluginsFile, "--format", "json", "-X", "POST", "https://shop.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback")
	var result dryrun.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v\n%s", err, problems)
	}
	considered := map[string]int{}
	for _, p := range result.Policies {
		for _, r := range p.Rules {
			if strings.HasPrefix(strings.TrimPrefix(r.Rule, "deny "), "plugin ") == (r.Line == "") {
				t.Errorf("%+v", r)
			}
			if r.Line != "" {
				considered[r.Rule]++
			}
		}
	}
	if considered["plugin complianz-gdpr"] != 8 || considered["plugin contact-form-7"] != 1 {
		t.Errorf("%v", considered)
	}
	if d := result.Decided; d == nil || d.Rule != "plugin contact-form-7" || d.Line != "allow anyone POST /contact-form-7/v1/contact-forms/*/feedback" {
		t.Errorf("%+v", d)
	}
}

// TestExplain_LogPlugins: a record that a line for a plugin decided is run again, also where
// lines for plugins name many words.
func TestExplain_LogPlugins(t *testing.T) {
	t.Parallel()
	file := written(t, `shop.example.com {
	restwarden wordpress {
		login_only
		allow plugin woocommerce learnpress jetpack event-tickets give buddypress
		deny plugin wordpress learnpress
		allow anyone /files/v1/public/*
	}
	reverse_proxy 127.0.0.1:8080
}
`)
	const refusedThen = "refused then: rest_not_logged_in; now: "
	for _, c := range []struct {
		name   string
		fields map[string]any
		status int
		first  string
		also   string
	}{
		{"closed by deny plugin", map[string]any{"rule": "deny plugin wordpress", "at": file + ":5", "route": "/wp/v2/search", "method": "GET"}, 1, refusedThen + "the same", "deny plugin wordpress: allow users GET /wp/v2/search"},
		{"another line now", map[string]any{"rule": "deny plugin wordpress", "at": "Caddyfile:4", "route": "/wp/v2/search", "method": "GET"}, 1, refusedThen + "refused: 401", ""},
		{"opened since", map[string]any{"rule": "login_only", "at": file + ":3", "route": "/wc/store/v1/cart", "method": "GET"}, 0, refusedThen + "passes", "plugin woocommerce: allow anyone GET /wc/store/v1/cart"},
		{"many words", map[string]any{"rule": "login_only", "at": file + ":3", "route": "/gallery/v1/:name/:other"}, 1, refusedThen + "the same", "examples of the route"},
		{"the words that decide", map[string]any{"rule": "login_only", "at": file + ":3", "route": "/learnpress/v1/:what/archive"}, 3, refusedThen + "it depends", "the parameters of the route"},
	} {
		out, problems, status := command.Run(strings.NewReader(record(c.fields)+"\n"), "explain", "--config", file, "--log", "-", "id-1")
		if first, _, _ := strings.Cut(out, "\n"); status != c.status || !strings.HasPrefix(first, c.first) || !strings.Contains(out, c.also) || problems != "" {
			t.Errorf("%s: exit status %d, want %d: %s … %s\n%s\n%s", c.name, status, c.status, c.first, c.also, out, problems)
		}
	}
}

// TestTest_Plugins: of the plugins of a line, those that decided no test are named once.
func TestTest_Plugins(t *testing.T) {
	t.Parallel()
	config := written(t, pluginsFile)
	tests := filepath.Join(t.TempDir(), "a.test.yaml")
	const text = `tests:
  - request: POST https://shop.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback
    expect: pass
  - request: GET https://shop.example.com/wp-json/acme/v1/x
    expect: { refused: rest_not_logged_in, by: access }
`
	if err := os.WriteFile(tests, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, status := command.Run(nil, "test", "--config", config, tests)
	want := "No test was decided by:\n  login_only at " + config + ":3\n  plugin complianz-gdpr at " + config + ":4\n  deny plugin wordpress at " + config + ":5\n2 passed, 0 failed\n"
	if status != 0 || out != want {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}
