package call

import (
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Caches cut parameters of advertisers out of an address, by search and replace, so that one page
// is kept once (docs/platform I.13, B8). The expressions in common use end a value at the first
// byte that they do not expect. What is left of it joins what stands before:
// "?rest_route&utm_source=x=/wp/v2/users" becomes "?rest_route=/wp/v2/users".

// Names of the parameters that they cut.
var (
	cutNames = [...]string{
		"gclid", "gclsrc", "dclid", "fbclid", "msclkid", "cx", "_kx", "ie", "cof", "siteurl", "zanpid", "origin",
		"gad_source", "gbraid", "wbraid", "_gl", "srsltid",
	}
	cutStarts = [...]string{"utm_", "mc_", "_bta_"} // and small letters
)

// cutter is an expression: what must stand before a name, whether that stays, what a value
// consists of, and whether a "&" behind it goes too.
type cutter struct {
	before string // "" is anything
	keeps  bool
	value  *byteSet
	and    bool
}

// bracketed are what "A-z" has beside letters.
const bracketed = "[\\]^_`"

var (
	shortValue = alnumAnd(bracketed + "-.%")
	longValue  = alnumAnd(bracketed + "-.%+()")
	wideValue  = alnumAnd(bracketed + "-.%+(){}*")
)

// cutLine is expressions that are applied one after the other, and what is cut of the end then.
type cutLine struct {
	cutters []cutter
	ends    string
}

// cutting are the expressions, as in the examples of Varnish for WordPress and for shops. Those for
// shops cut the last only where a name stands behind "?" or "&"; not all caches look.
var cutting = [...]cutLine{
	{cutters: []cutter{{before: "&", value: shortValue}, {before: "?", keeps: true, value: shortValue}}},
	{cutters: []cutter{{before: "?&", keeps: true, value: wideValue, and: true}}},
	{cutters: []cutter{{value: longValue, and: true}}, ends: "?|&"},
}

// leaves returns what l leaves of a text.
func (l *cutLine) leaves(text string) string {
	for i := range l.cutters {
		text = l.cutters[i].cut(text)
	}
	return strings.TrimRight(text, l.ends)
}

// cutName returns where the name that a text ends with begins, if caches cut it, else -1.
func cutName(text string) int {
	at := len(text)
	if at == 0 || text[at-1] < 'a' || text[at-1] > 'z' {
		return -1
	}
	for _, name := range cutNames {
		if strings.HasSuffix(text, name) {
			at = len(text) - len(name)
			break
		}
	}
	letters := len(text)
	for letters > 0 && 'a' <= text[letters-1] && text[letters-1] <= 'z' {
		letters--
	}
	for _, start := range cutStarts {
		if letters < len(text) && strings.HasSuffix(text[:letters], start) {
			at = min(at, letters-len(start))
		}
	}
	if at == len(text) {
		return -1
	}
	return at
}

// cut returns what c leaves of a text. It looks at each byte a few times only: a name has no "=".
func (c *cutter) cut(text string) string {
	var b strings.Builder
	from := 0
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '=')
		if i < 0 {
			break
		}
		equals := at + i
		start := cutName(text[at:equals])
		at, start = equals+1, at+start
		if start < at-1-i || c.before != "" && (start == from || strings.IndexByte(c.before, text[start-1]) < 0) {
			continue
		}
		end := at
		for end < len(text) && c.value[text[end]] {
			end++
		}
		if end == at {
			continue
		}
		if c.and && end < len(text) && text[end] == '&' {
			end++
		}
		if c.before != "" && !c.keeps {
			start--
		}
		b.WriteString(text[from:start])
		from, at = end, end
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// cutsOf returns what caches leave of a text, where that is something else.
func cutsOf(text string) (left []string) {
	for i := range cutting {
		if rest := cutting[i].leaves(text); rest != text {
			left = append(left, rest)
		}
	}
	return left
}

// cutQueries is cutsOf for a raw query.
func cutQueries(query string) []string {
	if !cuttable(query) {
		return nil
	}
	left := cutsOf("?" + query)
	for i := range left {
		left[i] = strings.TrimLeft(left[i], "?&")
	}
	return left
}

// cuttable is a quick test for whether a text has a name that is cut.
func cuttable(text string) bool {
	for {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			return false
		}
		if cutName(name) >= 0 {
			return true
		}
		text = rest
	}
}

// glued tells whether one of the texts that cuts leave of a raw query has a pair of the variable
// name that the query does not have.
func glued(query string, left []string, name string) bool {
	return slices.ContainsFunc(left, func(rest string) bool {
		if !phpvars.Has(rest, name) {
			return false
		}
		next, stop := iter.Pull(pairsOf(query, name))
		defer stop()
		for pair := range pairsOf(rest, name) { // they keep their order
			own, more := next()
			for more && own != pair {
				own, more = next()
			}
			if !more {
				return true
			}
		}
		return false
	})
}

// lost tells whether one of these texts lacks a pair of the variable name: it is glued to the
// rest of another name.
func lost(query string, left []string, name string) bool {
	return slices.ContainsFunc(left, func(rest string) bool { return phpvars.Count(rest, name) < phpvars.Count(query, name) })
}

// pairsOf yields the pairs of a raw query that may set the variable name.
func pairsOf(query, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for pair := range strings.SplitSeq(query, "&") {
			if phpvars.Has(pair, name) && !yield(pair) {
				return
			}
		}
	}
}

// gluedPath tells whether a cut makes a path name the prefix or an alias, or another route.
func (rd *Reader) gluedPath(u *url.URL) bool {
	path := escapedPath(u)
	if plainBytes.holds(path) || !cuttable(path) {
		return false
	}
	return slices.ContainsFunc(cutsOf(path), func(left string) bool {
		left = decodeAll(left)
		return rd.names(left) || rd.aliasWithin(left)
	})
}

// endsWith tells whether the last pair of a raw query sets the variable name.
func endsWith(query, name string) bool {
	return phpvars.Has(query[strings.LastIndexByte(query, '&')+1:], name)
}
