package admin

import (
	"os"
	"regexp"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

var (
	requestLine = regexp.MustCompile("`(GET|POST) " + adminapi.Path + "([^` ]*)`")
	placeholder = regexp.MustCompile(`<[a-z]+>`)
)

// TestDocs: the pages name each request that the endpoint takes, and no other.
func TestDocs(t *testing.T) {
	t.Parallel()
	named := map[string]string{} // methods by path
	for _, page := range []string{"commands/status.md", "policies/abilities.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range requestLine.FindAllStringSubmatch(string(text), -1) {
			path := placeholder.ReplaceAllString(m[2], "*")
			if named[path] = m[1]; resources[path].method != m[1] {
				t.Errorf("%s names %s, which the endpoint does not take", page, m[0])
			}
		}
	}
	for path, taken := range resources {
		if named[path] != taken.method {
			t.Errorf("no page names %s %s", taken.method, path)
		}
	}
}
