// Package sitename tells which sites a command means.
package sitename

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Choice says which sites are meant: those that one of Sites or Tags names. The zero Choice means all.
type Choice struct {
	Sites []string // names, in which * stands for any text
	Tags  []string
}

// Site is a site that may be meant. A site may stand in a list several times, once for each directive.
type Site struct {
	Names []string // the first is the one by which it is known
	Tags  []string
}

// All tells whether nothing is named.
func (c *Choice) All() bool { return len(c.Sites)+len(c.Tags) == 0 }

// Wants tells whether a site is meant.
func (c *Choice) Wants(s Site) bool {
	return c.All() || slices.ContainsFunc(c.Sites, s.named) || slices.ContainsFunc(c.Tags, s.tagged)
}

func (s Site) named(pattern string) bool {
	return slices.ContainsFunc(s.Names, func(name string) bool { return Fits(pattern, name) })
}

func (s Site) tagged(tag string) bool { return slices.Contains(s.Tags, tag) }

// Among returns the names of the sites of a list that are meant, each once and in its order. The error names what fits no site.
func (c *Choice) Among(all []Site) (names []string, err error) {
	if err := c.Check(all); err != nil {
		return nil, err
	}
	for i := range all {
		if name := all[i].Names[0]; c.Wants(all[i]) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Check tells what of the choice fits no site of a list.
func (c *Choice) Check(all []Site) error {
	if err := check(c.Sites, all, Site.named, "no site is called", func(s Site) []string { return s.Names }); err != nil {
		return err
	}
	return check(c.Tags, all, Site.tagged, "no site has the tag", func(s Site) []string { return s.Tags })
}

// check tells which word fits no site; known returns the words of a site that would fit.
func check(words []string, all []Site, fits func(Site, string) bool, problem string, known func(Site) []string) error {
	for _, word := range words {
		if slices.ContainsFunc(all, func(s Site) bool { return fits(s, word) }) {
			continue
		}
		var there []string
		for i := range all {
			there = append(there, known(all[i])...)
		}
		slices.Sort(there)
		there = slices.Compact(there)
		return fmt.Errorf("%s %q%s", problem, word, policy.Prefixed(": ", cmp.Or(typo.Hint(word, there...), typo.List(there))))
	}
	return nil
}

// maxNamed bounds the sites that Counted names.
const maxNamed = 5

// Counted says which sites are meant: "a.example", "3 sites (a.example, b.example, c.example)".
func Counted(sites []string) string {
	if len(sites) == 1 {
		return sites[0]
	}
	named := strings.Join(sites[:min(len(sites), maxNamed)], ", ")
	if more := len(sites) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d sites (%s)", len(sites), named)
}

// Fits tells whether the name of a site fits a pattern, in which * stands for any text.
func Fits(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, begins := strings.CutPrefix(name, first)
	for i := 0; begins && i <= len(name); i++ {
		if Fits(rest, name[i:]) {
			return true
		}
	}
	return false
}
