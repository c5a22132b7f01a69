package sitename

import (
	"strings"
	"testing"
)

// TestFits: * stands for any text, nothing and dots too, and all else for itself.
func TestFits(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{
		"a.example|a.example": true, "a.example|b.example": false, "*|a.example/blog": true, "*.example|a.example": true, "*.example|a.example.org": false,
		"shop-*|shop-": true, "shop-*.example|shop-1.eu.example": true, "*a*a*|a": false, "*a*a*|banana": true, "a*b|a": false,
	} {
		pattern, name, _ := strings.Cut(words, "|")
		if got := Fits(pattern, name); got != want {
			t.Errorf("%s: %t", words, got)
		}
	}
}

// TestChoice: each --site and --tag adds sites, and one that fits none is an error that names near ones.
func TestChoice(t *testing.T) {
	t.Parallel()
	all := []Site{
		{Names: []string{"a.example", "www.a.example"}, Tags: []string{"shops"}},
		{Names: []string{"b.example"}},
		{Names: []string{"b.example"}, Tags: []string{"shops", "eu"}}, // another directive of the site
		{Names: []string{"c.example"}, Tags: []string{"blogs"}},
	}
	for words, want := range map[string]string{
		"|": "a.example b.example c.example", "b.example|": "b.example", "www.*|": "a.example", "|shops": "a.example b.example", "c.*|eu": "b.example c.example",
		"*|blogs":      "a.example b.example c.example",
		"a.exmaple|":   `no site is called "a.exmaple": did you mean a.example?`,
		"|shop":        `no site has the tag "shop": did you mean shops?`,
		"a.example|*":  `no site has the tag "*": blogs, eu, shops`,
		"zzzzzzzzzz*|": `no site is called "zzzzzzzzzz*": a.example, b.example, c.example, www.a.example`,
	} {
		site, tag, _ := strings.Cut(words, "|")
		c := Choice{Sites: strings.Fields(site), Tags: strings.Fields(tag)}
		names, err := c.Among(all)
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", words, got)
		}
	}
	for want, c := range map[string]Choice{`no site has the tag "x"`: {Tags: []string{"x"}}, `no site has the tag ""`: {Tags: []string{""}}, `no site is called "": a`: {Sites: []string{""}}} {
		if _, err := c.Among([]Site{{Names: []string{"a"}}}); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}
