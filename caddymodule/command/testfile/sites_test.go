package testfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// sitesConfig has a site of two ports, one below a folder, one of a wildcard, and one on its own port.
const sitesConfig = `(rw) {
	restwarden wordpress {
		login_only
		{block}
	}
	reverse_proxy 127.0.0.1:8080
}
a.example, a.example:8443 {
	import rw {
		tag shops
	}
}
b.example {
	import rw {
		base /blog
		allow anyone /acme/**
		tag shops eu
	}
}
*.c.example {
	import rw
}
http://a.example:8081 {
	import rw {
		allow anyone /acme/**
	}
}
`

// TestSites: a test with "at" runs at each site that it names, of those that are meant; a directive with rules of its own on another
// port counts as well. A test with an address runs where it comes to such a site, or to none.
func TestSites(t *testing.T) {
	const all, shops, address, past = `- {request: GET /wp-json/acme/v1, at: all, expect: pass, name: all}
`, `- never: {as: anonymous, routes: /acme/**, at: "tag:shops"}
`, `- {request: "GET https://b.example/blog/wp-json/acme/v1", expect: pass, name: b}
`, `- {request: "GET https://nobody.example/wp-json/", expect: pass, name: past}
`
	const a, b, c, other = "https://a.example", "https://b.example/blog", "https://any.c.example", "http://a.example:8081"
	const never = "never anonymous /acme/** at "
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(sitesConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, err := testfile.Load(dryrun.Options{File: file, Adapter: "caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gateway.Close() })
	for _, test := range []struct{ tests, choice, passed, failed string }{
		{all, "", "all at " + b + ", all at " + other, "all at " + a + ", all at " + c},
		{shops, "", never + a, never + b + ", " + never + other},
		{all + shops, "--site b.example/blog", "all at " + b, never + b},
		{all, "--site *.c.example", "", "all at " + c},
		{all + shops, "--tag eu --site *.c.*", "all at " + b, "all at " + c + ", " + never + b},
		{address + past, "--tag eu", "b", "past"},
		{address + past, "--site a.example", "", "past"},
		{shops, "--site *.c.example", "", ""},
	} {
		f, err := testfile.Read("a.yaml", strings.NewReader("tests:\n"+test.tests))
		if err != nil {
			t.Fatal(err)
		}
		r := &testfile.Runner{Gateway: gateway, Choice: choiceOf(test.choice)}
		outcomes, err := r.Run(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		got := map[bool][]string{}
		for _, o := range outcomes {
			got[o.Status == testfile.Passed] = append(got[o.Status == testfile.Passed], o.Name)
		}
		if passed, failed := strings.Join(got[true], ", "), strings.Join(got[false], ", "); passed != test.passed || failed != test.failed {
			t.Errorf("%q %s: passed %s, failed %s", test.tests, test.choice, passed, failed)
		}
	}
	for tests, want := range map[string]string{
		`- never: {as: anonymous, routes: /acme/**, at: "tag:shop"}`: `a.yaml:2: at: no site has the tag "shop": did you mean shops?`,
		"- {request: GET /, at: all, expect: pass} --site d.example": `no site is called "d.example": `,
	} {
		tests, choice, _ := strings.Cut(tests, " --")
		f, err := testfile.Read("a.yaml", strings.NewReader("tests:\n"+tests))
		if err != nil {
			t.Fatal(err)
		}
		r := &testfile.Runner{Gateway: gateway, Choice: choiceOf("--" + choice)}
		if _, err := r.Run(t.Context(), f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", tests, err)
		}
	}
}

// choiceOf reads flags as the command has them.
func choiceOf(flags string) (c sitename.Choice) {
	words := strings.Fields(flags)
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] == "--site" {
			c.Sites = append(c.Sites, words[i+1])
		} else {
			c.Tags = append(c.Tags, words[i+1])
		}
	}
	return c
}
