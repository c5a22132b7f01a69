package command_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

const rules = `(guard) {
	restwarden wordpress {
		login_only
		allow role editor /newsletter/v1/**
		allow capability edit_posts POST /wp/v2/media
		deny /old/v1/** as 404
		{block}
	}
}
shop.example.com {
	import guard {
		allow anyone /wc/store/v1/**
	}
	reverse_proxy 127.0.0.1:8080
}
open.example.com {
	restwarden wordpress
	reverse_proxy 127.0.0.1:8080
}
closed.example.com {
	restwarden wordpress {
		deny plugin wordpress
		deny POST /contact-form-7/v1/**
	}
	reverse_proxy 127.0.0.1:8080
}
watched.example.com {
	restwarden wordpress {
		mode observe
		deny /x/v1/**
	}
	reverse_proxy 127.0.0.1:8080
}
`

// changes are calls with the line that changes their answer.
var changes = []struct {
	as, method, url string
	line            string // "" if there is none
	answer          dryrun.Answer
}{
	{"anonymous", "GET", "https://shop.example.com/wp-json/wp/v2/posts/5", "allow anyone GET /wp/v2/posts/:id", dryrun.Pass},
	{"anonymous", "HEAD", "https://shop.example.com/wp-json/wp/v2/posts", "allow anyone GET /wp/v2/posts", dryrun.Pass},
	{"anonymous", "POST", "https://shop.example.com/wp-json/old/v1/a%20b/7/x/8", "allow anyone POST /old/v1/*/*/x/:id", dryrun.Pass},
	{"anonymous", "GET", "https://shop.example.com/wp-json/wp/v2/posts/5?id=7", "allow anyone GET /wp/v2/posts/*", dryrun.Pass},
	{"anonymous", "GET", "https://open.example.com/wp-json/wp/v2/users", "allow anyone GET /wp/v2/users", dryrun.Pass},
	{"role:author", "GET", "https://shop.example.com/wp-json/newsletter/v1/issues", "allow role editor,author GET /newsletter/v1/issues", dryrun.Pass},
	{"user", "GET", "https://shop.example.com/wp-json/newsletter/v1/issues", "allow users GET /newsletter/v1/issues", dryrun.Pass},
	{"cap:read", "GET", "https://shop.example.com/wp-json/newsletter/v1/issues", "allow capability read GET /newsletter/v1/issues", dryrun.Pass},
	{"key", "GET", "https://shop.example.com/wp-json/newsletter/v1/issues", "", ""}, // a key counts in the shop's namespaces alone
	{"anonymous", "GET", "https://open.example.com/wp-json/wp/v2/posts/5", "deny GET /wp/v2/posts/:id", dryrun.Refused},
	{"user", "GET", "https://shop.example.com/wp-json/wp/v2/posts", "deny GET /wp/v2/posts", dryrun.Refused},
	{"anonymous", "POST", "https://shop.example.com/wp-json/wc/store/v1/batches", "deny POST /wc/store/v1/batches", dryrun.Refused},
	{"anonymous", "GET", "https://watched.example.com/wp-json/x/v1/y", "allow anyone GET /x/v1/y", dryrun.Pass},
	{"anonymous", "GET", "https://watched.example.com/wp-json/z/v1/y", "deny GET /z/v1/y", dryrun.WouldRefuse},
	{"anonymous", "POST", "https://shop.example.com/wp-json/Contact-Form-7/v1/contact-forms/5/feedback", "allow plugin contact-form-7", dryrun.Pass},
	{"anonymous", "POST", "https://shop.example.com/wp-json/indieauth/1.0/token", "allow plugin indieauth for apps", dryrun.Pass},
	{"anonymous", "DELETE", "https://shop.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback", "allow anyone DELETE /contact-form-7/v1/contact-forms/:id/feedback", dryrun.Pass},
	{"user", "POST", "https://closed.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback", "allow users POST /contact-form-7/v1/contact-forms/:id/feedback", dryrun.Pass},
	{"anonymous", "POST", "https://closed.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback", "allow plugin contact-form-7", dryrun.Pass},
	{"anonymous", "GET", "https://closed.example.com/wp-json/wp/v2/search", "allow anyone GET /wp/v2/search", dryrun.Pass}, // a guard of deny plugin
	{"anonymous", "GET", "https://open.example.com/about", "", ""},
	{"anonymous", "GET", "https://open.example.com/wp-json/a/b?rest_route=/c/d", "", ""},
	{"anonymous", "GET", "https://nowhere.example.com/wp-json/a/b", "", ""},
}

// TestExplain_Change: each line that explain prints is put into the Caddyfile itself, where
// explain says, and changes the answer as it says.
func TestExplain_Change(t *testing.T) {
	t.Parallel()
	file := written(t, rules)
	for _, c := range changes {
		before := asked(t, file, c.as, c.method, c.url)
		if before.Change == nil {
			if c.line != "" {
				t.Errorf("%s %s %s: no line, want %s (%s)", c.as, c.method, c.url, c.line, before.Answer)
			}
			continue
		}
		if before.Change.Line != c.line || before.Change.Answer != c.answer || c.answer == before.Answer {
			t.Errorf("%s %s %s: %+v, want %s (%s)", c.as, c.method, c.url, before.Change, c.line, c.answer)
			continue
		}
		at := before.Change.Before
		if at == "" {
			at = before.At
		}
		changed := written(t, withLine(t, at, at == before.At, c.line))
		if after := asked(t, changed, c.as, c.method, c.url); after.Answer != c.answer {
			t.Errorf("%s %s %s: %s with %q at %s", c.as, c.method, c.url, after.Answer, c.line, at)
		}
	}
}

func asked(t *testing.T, file, as, method, url string) dryrun.Result {
	t.Helper()
	out, problems, _ := command.Run(strings.NewReader(""), "explain", "--config", file, "--as", as, "-X", method, "--format", "json", url)
	var result dryrun.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v\n%s", err, problems)
	}
	return result
}

// withLine returns the Caddyfile with a line before the one at a place, or in the block of
// the directive that stands there.
func withLine(t *testing.T, at string, directive bool, line string) string {
	t.Helper()
	_, number, _ := strings.Cut(at, "Caddyfile:")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(rules, "\n")
	if directive && strings.HasSuffix(lines[n-1], "wordpress") { // it has no block
		lines[n-1] += " {\n\t\t" + line + "\n\t}"
		return strings.Join(lines, "\n")
	}
	if directive {
		n++
	}
	lines[n-1] = "\t\t" + line + "\n" + lines[n-1]
	return strings.Join(lines, "\n")
}

// TestExplain_Index: with a saved index the line names the site's own pattern.
func TestExplain_Index(t *testing.T) {
	t.Parallel()
	index := t.TempDir() + "/index.json"
	const root = `{"name":"s","namespaces":["own-forms/v1"],"routes":{"/own-forms/v1/forms/(?P<form>\\d+)/feedback":{"methods":["POST"]}}}`
	if err := os.WriteFile(index, []byte(root), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, status := explain(t, loginOnly, "--index", index, "-F", "a=b", "https://shop.example.com/wp-json/own-forms/v1/forms/5/feedback")
	if status != 1 || !strings.Contains(out, "  allow anyone POST /own-forms/v1/forms/:form/feedback\n") {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}

// TestExplain_ChangeInBlock: where the snippet takes a block, the line goes into the site's own.
func TestExplain_ChangeInBlock(t *testing.T) {
	t.Parallel()
	const import1 = "shop.example.com {\n\timport guarded {\n\t\tdeny GET /x/v1/y\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	for name, c := range map[string]struct {
		snippet string
		own     bool
	}{
		"the default":            {"login_only\n\t\t{block}", true},
		"a rule behind it":       {"{block}\n\t\tdeny /wp/v2/**", true},
		"a rule before it":       {"deny /wp/v2/**\n\t\t{block}", false},
		"no block":               {"login_only", false},
		"the block of an option": {"login_only\n\t\taccess {\n\t\t\t{block}\n\t\t}", false},
	} {
		text := "(guarded) {\n\trestwarden wordpress {\n\t\t" + c.snippet + "\n\t}\n}\n" + import1
		if name == "no block" || name == "the block of an option" {
			text = strings.Replace(text, "\t\tdeny GET /x/v1/y\n", "", 1)
		}
		out, problems, status := explain(t, text, "https://shop.example.com/wp-json/wp/v2/posts")
		if status != 1 || strings.Contains(out, "in the site's own block, that of the import at ") != c.own || c.own == strings.Contains(out, "counts for every site") {
			t.Errorf("%s: exit status %d\n%s\n%s", name, status, out, problems)
		}
	}
}

// TestExplain_ChangeInSnippet: a line within a snippet counts for all sites that import it.
func TestExplain_ChangeInSnippet(t *testing.T) {
	t.Parallel()
	const said = "it counts for every site that imports the snippet"
	out, problems, status := explain(t, "(guarded) {\n"+strings.TrimPrefix(loginOnly, "shop.example.com {\n")+"shop.example.com {\n\timport guarded\n}\n", "https://shop.example.com/wp-json/wp/v2/posts")
	if status != 1 || !strings.Contains(out, said) {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
	if out, _, _ = explain(t, loginOnly, "https://shop.example.com/wp-json/wp/v2/posts"); strings.Contains(out, said) {
		t.Error(out)
	}
}
