package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
)

// TestKnownGroups: the groups of the core's own routes that take a word are known without the site's REST root.
func TestKnownGroups(t *testing.T) {
	t.Parallel()
	var core struct{ Namespaces, Patterns []string }
	text, err := os.ReadFile("../index/testdata/core.json")
	if err == nil {
		err = json.Unmarshal(text, &core)
	}
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern index.Dispatched, route string) (names []string) {
		groups, _ := pattern.Groups(route)
		for _, g := range groups {
			names = append(names, g.Name)
		}
		return names
	}
	worded := 0
	for _, pattern := range core.Patterns {
		x := index.New([]string{pattern}, core.Namespaces)
		for _, form := range index.Forms(x.Names()[0]) {
			for _, word := range []string{"word", "me", "a/word"} {
				route := form.String()
				for _, name := range form.Names() {
					route = strings.Replace(route, ":"+name, word, 1)
				}
				site, ok := x.Dispatch(route)
				if !ok || len(form.Names()) == 0 {
					continue
				}
				worded++
				known, ok := knownGroups["wordpress"].Dispatch(route)
				if !ok || !slices.Equal(names(known, route), names(site, route)) {
					t.Errorf("%s of %s: the groups %v are not known", route, pattern, names(site, route))
				}
			}
		}
	}
	if worded < 15 {
		t.Errorf("only %d routes have words", worded)
	}
}
