package between

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// joints are the places of a raw path or query where caches may join what stood apart. Each cache cuts
// names of its own, and what stands before it may decode, sort or write in small letters. So any cut
// may happen or not, in any order: what is left are pieces of the text, each of which ends at a gap
// and is followed by one that begins at a start.
type joints struct {
	text    string
	gaps    bitSet     // a cut may begin here, or an order put another pair here
	values  bitSet     // the value of a name that is cut begins here
	starts  bitSet     // a cut may end here, a pair begins, or what stands behind a "?"
	ends    bitSet     // those of starts at which a cut ends
	escapes []escape   // from the last to the first
	near    int        // the one of them that was read last
	mended  [][]mended // of each of escapes, once it is known
	looks   int        // at pieces, see spent
	cutsFound
}

// cutsFound is what the cuts of a text may do. Each may make more of the others possible.
type cutsFound struct {
	within bool // a cut begins within a pair: the next pair is glued to what stands before
	leaves bool // a cut leaves a part of a value, which is glued to the pair before
	nested bool // a cut begins within a name that is cut then
	across bool // a cut begins within a value that is cut then
}

// What is looked at. A form of PHP's most variables has a few thousand starts.
const (
	mostStarts  = 4 << 10
	mostEscapes = 4 << 10
	mostRounds  = 12
	mostLooks   = 1 << 16
)

// spent tells that more pieces were looked at than are: then every answer is that of the worst.
func (j *joints) spent() bool { return j.looks > mostLooks }

// jointsOf finds the joints of a raw path or query; nil where there are more than are looked at, or where
// each leads to more too often.
func jointsOf(text string) *joints {
	if strings.Count(text, "%") > mostEscapes {
		return nil
	}
	n := len(text) + 2
	j := &joints{text: text, gaps: newBitSet(n), values: newBitSet(n), starts: newBitSet(n), ends: newBitSet(n)}
	if !j.findEscapes() {
		return nil
	}
	for range mostRounds {
		gaps, starts, found := j.gaps.size(), j.starts.size(), j.cutsFound
		j.findGaps()
		j.findStarts()
		switch {
		case j.starts.size() > mostStarts, j.spent():
			return nil
		case gaps == j.gaps.size() && starts == j.starts.size() && found == j.cutsFound:
			return j
		}
	}
	return nil
}

// begins tells whether a pair begins at p.
func (j *joints) begins(p int) bool { return p == 0 || j.text[p-1] == '&' }

// findGaps goes from the end to the beginning, since a name that is cut may go on behind a later gap.
func (j *joints) findGaps() {
	clear(j.mended)
	for p := len(j.text); p >= 0 && !j.spent(); p-- {
		switch ends := p == len(j.text) || j.text[p] == '&'; {
		case ends && j.leaves:
			j.gaps.add(p)
		case ends:
		case j.cutBegins(p):
			j.gaps.add(p)
			j.within = j.within || !j.begins(p)
		case (j.text[p] == '?' || j.text[p] == '|') && j.gaps.has(p+1): // trimmed
			j.gaps.add(p)
		}
	}
}

// cutBegins tells whether a name that is cut begins at p: all of it up to a "=", or a part of it up
// to a gap.
func (j *joints) cutBegins(p int) (begins bool) {
	c, next := j.read(p)
	names := cutsByStart[c].names
	switch {
	case len(j.mends(p)) > 0:
		names = CutNames[:]
	case names == nil:
		return false
	case next < len(j.text) && j.text[next] != '%' && !j.gaps.has(next) && !cutsByStart[c].seconds[phpvars.LowerByte(j.text[next])]:
		return false // as nearly all
	}
	for _, name := range names {
		begins = j.cutsName(p, name) || begins
	}
	return begins
}

// cutsName is cutBegins for one name.
func (j *joints) cutsName(from int, name string) bool {
	for k, p := 0, from; ; k++ {
		if k > len(name) {
			j.looks++
		}
		if p > from && j.gaps.has(p) && j.anyStart(func(start int) bool { return j.goesOn(name, k, start) }) || j.goesOnTorn(name, k, p) {
			j.nested = true
			return true
		}
		if p == len(j.text) {
			return false
		}
		if j.text[p] == '=' && endsCut(name, k) {
			j.values.add(p + 1)
			return true
		}
		c, next := j.read(p)
		if !fitsCut(name, k, c) {
			return false
		}
		p = next
	}
}

// fitsCut tells whether c may be byte k of a name that is cut. One that ends with "_" goes on with small
// letters and "_".
func fitsCut(name string, k int, c byte) bool {
	if k < len(name) {
		return c == name[k]
	}
	return name[len(name)-1] == '_' && (c == '_' || 'a' <= c && c <= 'z')
}

// endsCut tells whether a name that is cut may have k bytes.
func endsCut(name string, k int) bool {
	return k > len(name) || k == len(name) && name[k-1] != '_'
}

// goesOn tells whether a piece that begins at p goes on with a name that is cut at k: to its "=", or to a gap.
func (j *joints) goesOn(name string, k, p int) bool {
	for from := p; !j.spent(); k++ {
		j.looks++
		if p > from && j.gaps.has(p) {
			return true
		}
		if p == len(j.text) {
			return false
		}
		if j.text[p] == '=' && endsCut(name, k) || j.goesOnTorn(name, k, p) {
			return true
		}
		c, next := j.read(p)
		if !fitsCut(name, k, c) {
			return false
		}
		p = next
	}
	return false
}

// goesOnTorn tells whether byte k of a name that is cut may be the escape at p, the rest of which stands elsewhere, and
// the name goes on there.
func (j *joints) goesOnTorn(name string, k, p int) bool {
	return slices.ContainsFunc(j.mends(p), func(m mended) bool {
		j.looks++
		return j.spent() || (m.any || fitsCut(name, k, m.c)) && (j.gaps.has(m.next) || j.goesOn(name, k+1, m.next))
	})
}

// findStarts goes from the beginning to the end, with the values that are cut.
func (j *joints) findStarts() {
	clear(j.mended)
	var v values
	for p := 0; p <= len(j.text); p++ {
		if j.begins(p) || j.text[p-1] == '?' || j.text[p-1] == ';' {
			j.starts.add(p)
		}
		here := j.heldAt(p)
		if v&^here.raw != 0 {
			j.starts.add(p)
			j.ends.add(p)
			j.leaves = j.leaves || p < len(j.text) && j.text[p] != '&'
		}
		v &= here.raw | here.decoded
		value := j.values.has(p) || j.nested && p > 0 && j.text[p-1] == '='
		j.across = j.across || here.raw != 0 && j.gaps.has(p) && (value || v != 0)
		if value || j.ends.has(p) || j.across && j.starts.has(p) {
			v |= here.raw | here.decoded
		}
	}
}

// heldAt returns the valueSets that the byte at p is in, and the escape there if it is decoded first.
func (j *joints) heldAt(p int) (here struct{ raw, decoded values }) {
	if p < len(j.text) {
		here.raw = heldBy[j.text[p]]
		if j.text[p] == '%' {
			c, _ := j.read(p)
			here.decoded = heldBy[c]
		}
	}
	return here
}

// values tells which of valueSets have held all bytes since a value began, a bit for each.
type values uint8

// heldBy are the valueSets that a byte is in.
var heldBy = func() (held [256]values) {
	for c := range held {
		for k, set := range valueSets {
			if set[c] {
				held[c] |= 1 << k
			}
		}
	}
	return held
}()
