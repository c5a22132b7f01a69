package between

import (
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// word is a text that joints may make: so many bytes, at each of which some fit.
type word struct {
	size   int
	fits   func(at int, c byte) bool // c in small letters
	name   bool                      // of a variable: begins where a pair does, ends where one does or a value begins
	shifts bool                      // what follows a byte that shifts may be any letters, see phpvars.Shifts
	open   bool                      // the end of the text, or of a pair, stands for the last byte, too
}

// after returns how many bytes of w are there when c stands behind the first k: -1 where it does not fit.
func (w word) after(k int, c byte) int {
	switch {
	case w.name && k == 0 && (c == ' ' || c == '+'), !w.name && k > 0 && dropped(c): // PHP drops them
		return k
	case k < w.size && w.fits(k, c):
		return k + 1
	}
	return -1
}

// variableName is the name of a variable, as PHP folds it (docs/platform I.2).
func variableName(name string) word {
	name = phpvars.Lower(name)
	return word{size: len(name), name: true, shifts: true, fits: func(at int, c byte) bool {
		return c == name[at] || name[at] == '_' && (c == '.' || c == ' ' || c == '+' || c == '[')
	}}
}

// literal is a text, wherever it stands.
func literal(text string) word {
	text = phpvars.Lower(text)
	return word{size: len(text), fits: func(at int, c byte) bool { return c == text[at] }}
}

// frontController is how the platform knows its own script.
var frontController = word{size: len("index.php"), fits: func(at int, c byte) bool { return at == len("index") || c == "index.php"[at] }}

// dotSegments are "/./" and "/../".
var dotSegments = [...]word{{size: 3, fits: dotSegment(2), open: true}, {size: 4, fits: dotSegment(3), open: true}}

func dotSegment(last int) func(at int, c byte) bool {
	return func(at int, c byte) bool {
		if at == 0 || at == last {
			return c == '/' || c == '\\' || at > 0 && c == '?'
		}
		return c == '.'
	}
}

// reached is where pieces of a text have led to in a word.
type reached struct {
	gap  bool  // one ends here
	torn []int // escapes of the byte that follows, some of which end in them
}

// makes tells whether pieces of the text may join to w. One that stands there whole is none of
// theirs, unless a piece begins or ends with it.
func (j *joints) makes(w word) bool {
	led := make([]reached, w.size+1)
	if j.firstPiece(w, led) {
		return true
	}
	for k := range led {
		if led[k].gap && j.anyStart(func(p int) bool { return j.follow(w, led, k, p, true) }) || k < w.size && j.mendedPiece(w, led, k) {
			return true
		}
	}
	return j.spent()
}

// firstPiece follows the pieces that w may begin with.
func (j *joints) firstPiece(w word, led []reached) bool {
	if w.name {
		return j.anyStart(func(p int) bool { return j.follow(w, led, 0, p, !j.begins(p)) })
	}
	for p := range len(j.text) {
		if j.follow(w, led, 0, p, j.starts.has(p)) {
			return true
		}
	}
	return false
}

// mendedPiece follows the pieces that begin with the rest of a torn escape, which is byte k.
func (j *joints) mendedPiece(w word, led []reached, k int) bool {
	for i := 0; i < len(led[k].torn); i++ { // which may become more
		for _, m := range j.mends(led[k].torn[i]) {
			if j.looks++; j.spent() {
				return true
			}
			after := w.after(k, m.c)
			switch {
			case m.any:
				after = k + 1
			case w.shifts && phpvars.Shifts(m.c):
				return true
			}
			if after >= 0 && j.follow(w, led, after, m.next, true) {
				return true
			}
		}
	}
	return false
}

func (j *joints) anyStart(is func(p int) bool) bool {
	for p := range j.starts.all() {
		if j.spent() || is(p) {
			return true
		}
	}
	return false
}

// follow reads a piece from p on that goes on with w at k, and notes in led where it may end. It tells
// whether w is complete then, with a joint.
func (j *joints) follow(w word, led []reached, k, p int, joined bool) bool {
	j.looks++
	for !j.spent() {
		if k > 0 && j.gaps.has(p) {
			led[k].gap = true
		}
		if complete, known := j.completes(w, k, p, joined); known {
			return complete
		}
		c, next := j.read(p)
		torn := len(j.mends(p)) > 0
		if torn && !slices.Contains(led[k].torn, p) {
			led[k].torn = append(led[k].torn, p)
		}
		switch {
		case k == w.size:
			return torn || joined && endsName(c)
		case w.shifts && phpvars.Shifts(c):
			return joined
		}
		before := k
		if k = w.after(k, c); k < 0 {
			return false
		}
		if k == before {
			j.looks++
		}
		p = next
	}
	return true
}

// completes tells whether w is complete with k bytes before p. known is false where the byte at p tells.
func (j *joints) completes(w word, k, p int, joined bool) (complete, known bool) {
	end := p == len(j.text)
	whole := k == w.size || w.open && k > 1 && k == w.size-1
	switch {
	case k > 0 && k == w.size && j.gaps.has(p):
		return true, true
	case whole && !w.name && !end && strings.IndexByte("&?|", j.text[p]) >= 0: // it may be cut behind it
		return true, true
	case end, whole && k == w.size && !w.name:
		return joined && whole, true
	}
	return false, false
}

// endsName tells whether a name may end before a byte, which may be decoded: servers write decoded paths into queries.
func endsName(c byte) bool { return c == 0 || strings.IndexByte("=&;?|[", c) >= 0 }

// bitSet is a set of positions.
type bitSet []uint64

func newBitSet(n int) bitSet { return make(bitSet, (n+63)/64) }

func (b bitSet) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitSet) remove(i int)   { b[i/64] &^= 1 << (i % 64) }
func (b bitSet) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// all returns the positions in b, from the first to the last.
func (b bitSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// any tells whether one of the positions from up to before to is in b.
func (b bitSet) any(from, to int) bool {
	for ; from < to; from++ {
		if b.has(from) {
			return true
		}
	}
	return false
}

func (b bitSet) size() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
