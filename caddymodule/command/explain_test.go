package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

const proxied = "\treverse_proxy 127.0.0.1:8080\n"

// written writes a Caddyfile into a directory of its own, and returns its name.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// explain runs "caddy restwarden explain" with a Caddyfile.
func explain(t *testing.T, caddyfile string, args ...string) (out, problems string, status int) {
	t.Helper()
	return command.Run(strings.NewReader(""), append([]string{"explain", "--config", written(t, caddyfile)}, args...)...)
}

// underBase is a sub-folder that handle_path strips.
const underBase = `shop.example.com {
	restwarden wordpress {
		base /blog
		login_only
		allow role editor /newsletter/v1/**
		allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback
	}
	handle_path /blog/* {
		reverse_proxy 127.0.0.1:8080
	}
}
`

// TestExplain_Callers: verdict, rule and line for four callers, behind handle_path and base.
func TestExplain_Callers(t *testing.T) {
	t.Parallel()
	const newsletter, form = "/newsletter/v1/issues", "/contact-form-7/v1/contact-forms/5/feedback"
	for _, c := range []struct {
		as, route string
		status    int
		want      []string
	}{
		{"anonymous", newsletter, 1, []string{"refused: 401 rest_not_logged_in\n", "allow role editor /newsletter/v1/**", "Caddyfile:5"}},
		{"role:editor", newsletter, 0, []string{"passes\n", "allow role editor /newsletter/v1/**", "Caddyfile:5"}},
		{"role:shop_manager", newsletter, 1, []string{"refused: 403 rest_forbidden\n", "allow role editor /newsletter/v1/**", "Caddyfile:5"}},
		{"key", form, 1, []string{"refused: 401 incorrect_password\n", "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback", "Caddyfile:6"}}, // as the platform does
		{"anonymous", form, 0, []string{"passes\n", "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback", "Caddyfile:6"}},
	} {
		out, problems, status := explain(t, underBase, "--as", c.as, "-d", "a=1", "https://shop.example.com/blog/wp-json"+c.route)
		if status != c.status || problems != "" {
			t.Errorf("%s %s: exit status %d\n%s\n%s", c.as, c.route, status, out, problems)
		}
		first, _, _ := strings.Cut(out, "\n")
		if first+"\n" != c.want[0] {
			t.Errorf("%s %s: %s", c.as, c.route, first)
		}
		for _, want := range c.want[1:] {
			if !strings.Contains(out, want) {
				t.Errorf("%s %s: no %q in\n%s", c.as, c.route, want, out)
			}
		}
	}
}

// silent are Caddyfiles that guard less than they seem to. The request is one that goes
// past the gateway.
var silent = []struct {
	name, caddyfile, url string
	status               int
	want                 string
}{
	{
		"order last", "{\n\torder restwarden last\n}\nexample.com {\n\trestwarden wordpress\n" + proxied + "}\n",
		"https://example.com/wp-json/wp/v2/users", 2, "Caddyfile:5",
	},
	{
		"order after reverse_proxy", "{\n\torder restwarden after reverse_proxy\n}\nexample.com {\n\trestwarden wordpress\n" + proxied + "}\n",
		"https://example.com/wp-json/wp/v2/users", 2, "Caddyfile:5",
	},
	{
		"route with reverse_proxy first", "example.com {\n\troute {\n\t" + proxied + "\t\trestwarden wordpress\n\t}\n}\n",
		"https://example.com/wp-json/wp/v2/users", 2, "Caddyfile:4",
	},
	{
		"handle with a matcher", "example.com {\n\thandle /wp-json/* {\n\t\trestwarden wordpress\n\t" + proxied + "\t}\n\thandle {\n\t" + proxied + "\t}\n}\n",
		"https://example.com/?rest_route=/wp/v2/users", 4, `the matcher "path /wp-json/*" leaves the request out`,
	},
	{
		"directive under handle_path", "example.com {\n\thandle_path /wp-json/* {\n\t\trestwarden wordpress\n\t" + proxied + "\t}\n\thandle {\n\t" + proxied + "\t}\n}\n",
		"https://example.com/?rest_route=/wp/v2/users", 4, `the matcher "path /wp-json/*" leaves the request out`,
	},
	{
		"another host", "a.com {\n\trestwarden wordpress\n" + proxied + "}\nb.com {\n" + proxied + "}\n",
		"https://b.com/wp-json/wp/v2/users", 4, `the matcher "host a.com" leaves the request out`,
	},
	{
		"a matcher", "example.com {\n\t@api path /wp-json/*\n\trestwarden @api wordpress\n" + proxied + "}\n",
		"https://example.com/?rest_route=/wp/v2/users", 4, `the matcher "path /wp-json/*" leaves the request out`,
	},
	{
		"calls before", "example.com {\n\troute {\n\t\treverse_proxy /wp-json/* 127.0.0.1:8080\n\t\trestwarden wordpress\n\t" + proxied + "\t}\n}\n",
		"https://example.com/wp-json/wp/v2/users", 4, "reverse_proxy 127.0.0.1:8080 answers before the gateway",
	},
	{
		"a listener of its own", "http://example.com:8080 {\n\trestwarden wordpress\n" + proxied + "}\nexample.com {\n" + proxied + "}\n",
		"https://example.com/wp-json/wp/v2/users", 4, "reverse_proxy 127.0.0.1:8080 answers before the gateway",
	},
}

// TestExplain_Silent: what the gateway does not see has exit status 4 and names the reason
// and the directive, and what does not load has 2 and names the line.
func TestExplain_Silent(t *testing.T) {
	t.Parallel()
	for _, c := range silent {
		out, problems, status := explain(t, c.caddyfile, c.url)
		if status != c.status || !strings.Contains(out+problems, c.want) {
			t.Errorf("%s: exit status %d, want %d and %s\n%s\n%s", c.name, status, c.status, c.want, out, problems)
		}
		if status == 4 && (!strings.HasPrefix(out, "not reached: ") || !strings.Contains(out, "Caddyfile:")) {
			t.Errorf("%s: %s", c.name, out)
		}
	}
}

const loginOnly = "shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n" + proxied + "}\n"

// TestExplain_Answers: the exit status and the first line for each answer.
func TestExplain_Answers(t *testing.T) {
	t.Parallel()
	raw := filepath.Join(t.TempDir(), "request")
	if err := os.WriteFile(raw, []byte("GET /wp-json/wp/v2/posts HTTP/1.1\r\nHost: shop.example.com\r\n\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const posts, order = "https://shop.example.com/wp-json/wp/v2/posts", "https://shop.example.com/wp-json/wc/v3/orders/7"
	observe := strings.Replace(loginOnly, "login_only", "login_only\n\t\tmode observe", 1)
	for _, c := range []struct {
		name, caddyfile string
		args            []string
		status          int
		first           string
	}{
		{"pass", loginOnly, []string{"--as", "user", posts}, 0, "passes"},
		{"page", loginOnly, []string{"https://shop.example.com/about"}, 0, "passes: the request is a page, no REST call"},
		{"refused", loginOnly, []string{posts}, 1, "refused: 401 rest_not_logged_in"},
		{"observe", observe, []string{posts}, 0, "passes, but would be refused: 401 rest_not_logged_in"},
		{"unknown", loginOnly, []string{"--as", "key", "-X", "PUT", "-d", "status=completed", order}, 3, "cannot be known"},
		{"an order", loginOnly, []string{"--as", "key", "--id", "7=order", "-X", "PUT", "-d", "status=completed", order}, 0, "passes"},
		{"a subscription", loginOnly, []string{"--as", "key", "--id", "7=subscription", "-X", "PUT", "-d", "status=completed", order}, 1, "refused: 400 woocommerce_rest_shop_order_invalid_id"},
		{"raw", loginOnly, []string{"--raw", raw}, 1, "refused: 401 rest_not_logged_in"},
		{"raw by http", loginOnly, []string{"--raw", raw, "--http"}, 4, "not reached: the redirect to https that Caddy makes by itself answers before the gateway (308)"},
		{"a copied line", loginOnly, []string{"curl", "-sS", "-k", "-o", "/dev/null", "-H", "accept: */*", posts, "--compressed"}, 1, "refused: 401 rest_not_logged_in"},
		{"a copied login", loginOnly, []string{"-b", "wordpress_logged_in_1=a", "-H", "X-WP-Nonce: b", posts}, 3, "cannot be known"},
		{"a copied login of a user", loginOnly, []string{"-b", "wordpress_logged_in_1=a", "-H", "X-WP-Nonce: b", "--as", "user", posts}, 0, "passes"},
		{"other cookies of a browser", loginOnly, []string{"-b", "wordpress_test_cookie=WP%20Cookie%20check; woocommerce_cart_hash=a; wp-settings-1=b; x=wordpress_y", "--as", "user", posts}, 0, "passes"},
		{"a cookie of the shop's own", "shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tcredentials cookie sso\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"-b", "sso=a", "--as", "user", posts}, 0, "passes"},
		{"a login that nobody knows", loginOnly, []string{"-b", "wordpress_logged_in_1=a", "-H", "X-WP-Nonce: b", "--as", "anonymous", posts}, 1, "refused: 403 rest_cookie_invalid_nonce"},
	} {
		out, problems, status := explain(t, c.caddyfile, c.args...)
		if first, _, _ := strings.Cut(out, "\n"); status != c.status || first != c.first || problems != "" {
			t.Errorf("%s: exit status %d, want %d\n%s\n%s", c.name, status, c.status, out, problems)
		}
	}
}

// TestExplain_Terminal: what a client wrote cannot write to the terminal of who reads it.
func TestExplain_Terminal(t *testing.T) {
	t.Parallel()
	out, problems, status := explain(t, loginOnly, "https://shop.example.com/?rest_route=/x/v1/%1b%5b2J%e2%80%ae")
	if status != 1 || !strings.Contains(out, `\x1b[2J\u202e`) || strings.ContainsAny(out, "\x1b\r\u202e") {
		t.Errorf("exit status %d\n%q\n%s", status, out, problems)
	}
}

// TestExplain_Verbose: --verbose shows what did not matter.
func TestExplain_Verbose(t *testing.T) {
	t.Parallel()
	const url, builtIn = "https://shop.example.com/wp-json/x/v1/y", "built-in: nobody /*/v1/store-auth"
	short, _, _ := explain(t, loginOnly, url)
	long, _, _ := explain(t, loginOnly, "-v", url)
	for _, more := range []string{builtIn, "from query rest_route: not there"} {
		if strings.Contains(short, more) || !strings.Contains(long, more) {
			t.Errorf("%q:\n%s\n%s", more, short, long)
		}
	}
}

// TestExplain_Usage: what is wrong on the command's line or in the configuration has exit
// status 2, and nothing on standard output.
func TestExplain_Usage(t *testing.T) {
	t.Parallel()
	const posts = "https://shop.example.com/wp-json/wp/v2/posts"
	for _, c := range []struct {
		caddyfile string
		args      []string
		problem   string
	}{
		{loginOnly, nil, "name one URL"},
		{loginOnly, []string{posts, posts}, "name one URL"},
		{loginOnly, []string{"--nonsense", posts}, "unknown flag: --nonsense"},
		{loginOnly, []string{"--format", "xml", posts}, `--format: "xml" is neither text nor json`},
		{loginOnly, []string{"--as", "editor", posts}, "--as: "},
		{loginOnly, []string{"curl -X POST '" + posts + "'"}, "leave out the quotes around it"},
		{loginOnly, []string{"--as", "role:editr", posts}, "did you mean editor?"},
		{loginOnly, []string{"--id", "x=order", posts}, "--id: "},
		{loginOnly, []string{"--id", "7=ordr", posts}, "did you mean order?"},
		{loginOnly, []string{"--from", "here", posts}, "--from: "},
		{loginOnly, []string{"--index", "/missing", posts}, "--index: "},
		{loginOnly, []string{"--raw", "/missing"}, "--raw: "},
		{loginOnly, []string{"--raw", "-"}, ""}, // nothing is no request
		{loginOnly, []string{"--raw", "a", "--log", "b"}, "--raw does not go with --log"},
		{loginOnly, []string{"-F", "a=b", "-d", "x", posts}, "--form does not go with --data"},
		{"shop.example.com {\n\trestwarden wordpress {\n\t\tlogin-only\n\t}\n}\n", []string{posts}, "Caddyfile:3"},
	} {
		out, problems, status := explain(t, c.caddyfile, c.args...)
		if status != 2 || out != "" || problems == "" || !strings.Contains(problems, c.problem) {
			t.Errorf("%q: exit status %d\n%s\n%s", c.args, status, out, problems)
		}
	}
}

// TestExplain_JSON: the JSON is the result of the dry run.
func TestExplain_JSON(t *testing.T) {
	t.Parallel()
	out, problems, status := explain(t, loginOnly, "--format", "json", "https://shop.example.com/wp-json/wp/v2/posts")
	var result dryrun.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil || status != 1 {
		t.Fatalf("exit status %d, %v\n%s\n%s", status, err, out, problems)
	}
	if result.Version != 1 || result.Answer != dryrun.Refused || result.Decision == nil || !strings.HasSuffix(result.Decision.At, "Caddyfile:3") ||
		result.Change == nil || result.Change.Line != "allow anyone GET /wp/v2/posts" {
		t.Errorf("%s", out)
	}
}

// TestExplain_Completion: the shell completes callers, formats and records.
func TestExplain_Completion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, word, want string }{
		{"--as", "role:sh", "role:shop_manager\n"},
		{"--as", "c", "cap:\n"},
		{"--format", "j", "json\n"},
		{"--id", "1=s", "1=subscription\n"},
	} {
		if out, _, _ := command.Run(strings.NewReader(""), "__complete", "explain", c.flag, c.word); !strings.HasPrefix(out, c.want) {
			t.Errorf("%s %s: %s", c.flag, c.word, out)
		}
	}
}
