package scope

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// TestWideners: every platform has the table, in its own names.
func TestWideners(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		wideners := widenersOf(p)
		for _, key := range []string{"/" + p.Core + "/users", "/" + p.Core + "/plugins", "/" + p.Shop[2] + "/webhooks", "/" + p.Shop[2] + "/webhooks/batch", "/" + p.Shop[2] + "/settings/general/x", "/" + p.Analytics + "/settings/x", "/jwt-auth/v1/token"} {
			if !slices.ContainsFunc(wideners, func(route routes.Pattern) bool { return route.Match(key) }) {
				t.Errorf("%s: %s", p.Name, key)
			}
		}
	}
}

var listed = regexp.MustCompile("(?ms)^```text\n(/wp/v2/users .*?)^```")

// TestDocs_Wideners: the page lists the table.
func TestDocs_Wideners(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/policies/scope.md")
	if err != nil {
		t.Fatal(err)
	}
	match := listed.FindSubmatch(page)
	if match == nil {
		t.Fatal("the page lists none")
	}
	p, _ := platforms.ByName("wordpress")
	var table []string
	for _, route := range widenersOf(p) {
		table = append(table, route.String())
	}
	shown := strings.Fields(string(match[1]))
	for _, route := range table {
		if !slices.Contains(shown, route) {
			t.Errorf("the page lacks %s", route)
		}
	}
	for _, route := range shown {
		if !slices.Contains(table, route) {
			t.Errorf("the table lacks %s", route)
		}
	}
}
