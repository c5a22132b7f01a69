package call

import "slices"

// maxTried bounds the texts that the aliases are tried on while an address is read, in bytes, all
// together. Each alias may look at each text to its end. A path without escapes, "//" and scripts
// is one text, and never that long, see maxTarget. One of 4 KiB may be three: as it is sent,
// decoded, and with single slashes.
const maxTried = 12 << 10

// trials are the texts that the aliases of a site are tried on while an address is read.
type trials struct {
	rules  []*alias
	missed [12]string // texts that no alias fits, see wide; honest addresses have fewer
	misses int
	used   int // bytes
}

// first returns the first alias that fits one of a few texts, and that text, see wide. a is nil
// where none does, and where t is spent.
func (t *trials) first(texts ...string) (a *alias, text string) {
	untried := texts[:0]
	for _, text := range texts {
		if text = wide(text); !slices.Contains(t.missed[:t.misses], text) && !slices.Contains(untried, text) {
			untried = append(untried, text)
			t.used += len(text)
		}
	}
	if t.spent() {
		return nil, ""
	}
	for _, a := range t.rules {
		for _, text := range untried {
			if a.fits.MatchString(text) {
				return a, text
			}
		}
	}
	t.misses += copy(t.missed[t.misses:], untried)
	return nil, ""
}

// spent tells that an address has more texts than are tried, so that an alias may fit one of them.
func (t *trials) spent() bool { return t.used > maxTried }
