package call

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// cutting is what one cache does: search and replace with expressions in common use, for some of
// the names.
type cutting []struct {
	search  *regexp.Regexp
	replace string
}

func (c cutting) leaves(text string) string {
	for _, step := range c {
		text = step.search.ReplaceAllString(text, step.replace)
	}
	return text
}

// caches are what caches do: each kind for all names, for some of them, and for one.
var caches = func() (all []cutting) {
	rng := rand.New(rand.NewPCG(1, 2))
	for list := range 100 {
		var names []string
		for _, name := range between.CutNames {
			if list < cacheKinds || rng.IntN(2+list%5) == 0 {
				names = append(names, anyOf(name))
			}
		}
		rng.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
		if len(names) > 0 {
			all = append(all, cutsOf(list%cacheKinds, names...))
		}
	}
	for i, name := range between.CutNames {
		all = append(all, cutsOf(i%cacheKinds, anyOf(name)))
	}
	return all
}()

// anyOf is the expression of a name that is cut.
func anyOf(name string) string {
	if strings.HasSuffix(name, "_") {
		name += "[a-z_]+"
	}
	return name
}

const cacheKinds = 7

// cutsOf returns the expressions of a kind of cache for names.
func cutsOf(kind int, list ...string) (c cutting) {
	names := "(?:" + strings.Join(list, "|") + ")"
	steps := [][2]string{
		{"&" + names + `=[-A-z0-9_.%]+`, ""},
		{`\?` + names + `=[-A-z0-9_.%]+`, "?"},
		{`([?&])` + names + `=[-_A-z0-9+(){}%.*]+&?`, "$1"},
		{names + `=[-_A-z0-9+()%.]+&?`, ""},
		{"&" + names + `=[^&]+`, ""},
		{names + `=[^&]+&?`, ""},
		{names + `=[-_A-z0-9]+&?`, ""},
		{"&" + names + `=[-_A-Za-z0-9]+`, ""},
	}
	for _, step := range [cacheKinds][][2]string{steps[:2], steps[2:3], steps[3:4], steps[4:5], steps[5:6], steps[6:7], steps[7:]}[kind] {
		c = append(c, struct {
			search  *regexp.Regexp
			replace string
		}{regexp.MustCompile(step[0]), step[1]})
	}
	return c
}

// rewritings are what something on the way makes of a raw path or query, by number.
func rewritings(query bool) (all []func(string) string) {
	all = append(all, lower, phpvars.Unreserved, between.Trimmed)
	before := ""
	if query {
		before = "?" // always stays
		all = append(all, sortedPairs, sortedNames, func(query string) string { return query[strings.LastIndexByte(query, '?')+1:] })
	}
	for _, cache := range caches {
		all = append(all, func(text string) string { return strings.TrimPrefix(cache.leaves(before+text), before) })
	}
	return all
}

// rewrittenBy returns what steps make of a text. Half of them are caches.
func rewrittenBy(all []func(string) string, steps []byte, text string) string {
	first := len(all) - len(caches)
	for _, step := range steps {
		at := int(step) % first
		if step >= 128 {
			at = first + int(step)%len(caches)
		}
		text = all[at](text)
	}
	return text
}

// sortedPairs is a raw query in the order of std.querysort (docs/platform I.13, B2).
func sortedPairs(query string) string { return sorted(query, strings.Compare) }

// sortedNames is a raw query in the order of HAProxy's query-sort-by-name.
func sortedNames(query string) string {
	return sorted(query, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
}

func sorted(query string, compare func(a, b string) int) string {
	pairs := strings.Split(query, "&")
	slices.SortStableFunc(pairs, compare)
	return strings.Join(pairs, "&")
}
