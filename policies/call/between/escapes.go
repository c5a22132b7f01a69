package between

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// escape is what a "%" begins, however often it is decoded.
type escape struct {
	at, next int32
	end      int32 // the last byte that was looked at
	c        byte  // "%" where it begins no escape
}

// longestEscape is how far an escape is looked at, in bytes.
const longestEscape = 64

// read reads the byte at p in small letters, or the escape that begins there: next is where it ends.
func (j *joints) read(p int) (c byte, next int) {
	if p == len(j.text) {
		return 0, p
	}
	if c = phpvars.LowerByte(j.text[p]); c != '%' {
		return c, p + 1
	}
	e := j.escapeAt(p)
	return e.c, int(e.next)
}

func (j *joints) escapeAt(p int) escape {
	switch { // nearly always the one that was read last, or a neighbour of it
	case j.near < len(j.escapes) && int(j.escapes[j.near].at) == p:
	case j.near > 0 && int(j.escapes[j.near-1].at) == p:
		j.near--
	case j.near+1 < len(j.escapes) && int(j.escapes[j.near+1].at) == p:
		j.near++
	default:
		j.near, _ = slices.BinarySearchFunc(j.escapes, p, func(e escape, p int) int { return p - int(e.at) })
	}
	return j.escapes[j.near]
}

// findEscapes reads the escapes of the text. ok is false where one is too long.
func (j *joints) findEscapes() (ok bool) {
	for p := len(j.text) - 1; p >= 0; p-- {
		if j.text[p] != '%' {
			continue
		}
		c, next, end := escapeOf(j.text[p:min(len(j.text), p+longestEscape)])
		if end == longestEscape {
			return false
		}
		j.escapes = append(j.escapes, escape{int32(p), int32(p + next), int32(p + end), c})
	}
	return true
}

// mended is a byte that a torn escape may become with a rest that stands elsewhere.
type mended struct {
	c    byte
	any  bool // any byte: more rests than are looked at may join
	next int  // where the rest ends
}

// mends returns what the escape at p may become if a cut takes its end. It is kept until gaps or starts are looked for
// again.
func (j *joints) mends(p int) []mended {
	if p == len(j.text) || j.text[p] != '%' {
		return nil
	}
	end, at := int(j.escapeAt(p).end), j.near
	if j.mended == nil {
		j.mended = make([][]mended, len(j.escapes))
	}
	if j.mended[at] != nil {
		return j.mended[at]
	}
	all := []mended{}
	for gap := p + 1; gap <= end; gap++ {
		if j.gaps.has(gap) {
			all = j.mendsWith(all, j.text[p:gap], nil)
		}
	}
	j.mended[at] = all
	return all
}

// mendsWith adds what is left of an escape may become to all. If cuts tear its rests, too, used are where those before
// began.
func (j *joints) mendsWith(all []mended, left string, used []int) []mended {
	var room [4 * longestEscape]byte
	joined := append(room[:0], left...)
	for p := range j.starts.all() {
		if j.looks++; j.spent() {
			return all
		}
		if p == len(j.text) || !j.isDigit(p) || slices.Contains(used, p) {
			continue
		}
		if j.looks += dearLook; j.spent() {
			return all
		}
		joined = append(joined[:len(left)], j.text[p:min(len(j.text), p+longestEscape)]...)
		c, next, end := escapeOf(joined)
		if end == len(left)+longestEscape { // too long
			j.looks = mostLooks + 1
			return all
		}
		if next > len(left) {
			all = withMended(all, mended{c: c, next: p + next - len(left)})
		}
		for gap := p + 1; gap <= p+end-len(left) && gap <= len(j.text); gap++ {
			switch {
			case !j.gaps.has(gap):
			case len(used) == mostRests:
				all = withMended(all, mended{any: true, next: gap})
			default:
				all = j.mendsWith(all, left+j.text[p:gap], append(used, p))
			}
		}
	}
	return all
}

func withMended(all []mended, m mended) []mended {
	if slices.Contains(all, m) {
		return all
	}
	return append(all, m)
}

const (
	mostRests = 3  // of one escape
	dearLook  = 16 // what a look at a rest counts
)

// isDigit tells whether the byte at p may go on with an escape.
func (j *joints) isDigit(p int) bool {
	return j.text[p] == '%' || phpvars.HexValue(j.text[p]) < 16
}

// escapeOf reads the escape that s begins with, however often it is decoded. c is "%" where it is none, and end the last
// byte that was looked at.
func escapeOf[text string | []byte](s text) (c byte, next, end int) {
	c, next = '%', 1
	for c == '%' {
		first, at, last := digitOf(s, next)
		if end = max(end, last); first > 15 {
			break
		}
		second, at, last := digitOf(s, at)
		if end = max(end, last); second > 15 {
			break
		}
		c, next = phpvars.LowerByte(first<<4|second), at
	}
	return c, next, end
}

// digitOf reads a hexadecimal digit of s at p, which may be an escape; it is 16 where there is none.
func digitOf[text string | []byte](s text, p int) (value byte, next, end int) {
	switch {
	case p == len(s):
		return 16, p, p
	case s[p] == '%':
		c, next, end := escapeOf(s[p:])
		return phpvars.HexValue(c), p + next, p + end
	}
	return phpvars.HexValue(s[p]), p + 1, p
}
