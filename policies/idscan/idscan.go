// Package idscan reads the ids of records out of the JSON of an answer, piece by piece as it
// streams. It holds none of the answer, and says nothing unless the whole answer is JSON of
// the expected shape.
package idscan

import (
	"errors"
	"slices"
)

// Shape says where in an answer the records stand.
type Shape uint8

// The shapes of answers.
const (
	List    Shape = iota // an array of records
	Object               // one record
	Created              // the member "create" of an object: an array of records
)

// Bounds of an answer. One beyond them has no ids.
const (
	MaxBytes = 16 << 20 // far above a page of 100 large orders
	MaxDepth = 512      // of PHP's json_encode, too
)

// MaxID is the largest id: beyond it, readers of JSON disagree.
const MaxID = 1 << 53

// ErrNotScanned is returned by Write for an answer that has no ids, whatever follows.
var ErrNotScanned = errors.New("the answer is not of the expected shape")

// Scanner is an io.Writer that takes one answer. It belongs to one goroutine.
type Scanner struct {
	shape Shape
	most  int // records
	inner int // how many containers are open in a record
	bytes int

	step    step
	failed  bool
	depth   int
	objects [MaxDepth / 64]uint64 // one bit for each open container: it is an object

	escapes int    // hex digits of \u that are still to come
	literal string // what must follow of true, false or null
	inName  bool   // the string is the name of a member

	name    [maxName]byte // of a member where names matter
	nameLen int           // maxName+1 if it is longer
	escaped bool          // the name has an escape, so that it may be any name

	records int
	created int // members "create" of the answer
	within  bool
	record  object
	ids     []uint64
}

// maxName is the length of the longest name that matters.
const maxName = len("create")

// object is what is known of the record that is being read.
type object struct {
	id      uint64
	ids     int  // members "id"
	plain   bool // the id is a plain number
	reading bool // the value that comes is the id's
	odd     bool // it has an error, or a name that may be "id"
}

// New returns a scanner for an answer of a shape with no more than most records.
func New(shape Shape, most int) *Scanner {
	return &Scanner{shape: shape, most: most, inner: [...]int{List: 2, Object: 1, Created: 3}[shape]}
}

// Write implements io.Writer. The error is ErrNotScanned.
func (s *Scanner) Write(b []byte) (int, error) {
	if s.bytes += len(b); s.bytes > MaxBytes {
		s.failed = true
	}
	for i := 0; i < len(b) && !s.failed; i++ {
		if s.step == inString {
			n := plainLen(b[i:])
			if s.inName {
				s.keepName(b[i : i+n])
			}
			if i += n; i == len(b) {
				break
			}
		}
		s.next(b[i])
	}
	if s.failed {
		return 0, ErrNotScanned
	}
	return len(b), nil
}

// plainLen returns how many bytes of b go on with a string.
func plainLen(b []byte) int {
	for i, c := range b {
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

// IDs returns the ids of the records, in their order and each once, if the answer is whole.
// A record without exactly one member "id" that is a plain number up to MaxID has none, and
// neither has a record of Created with a member "error".
func (s *Scanner) IDs() []uint64 {
	if s.failed || s.step != atEnd {
		return nil
	}
	return s.ids
}

// inRecord tells whether the scanner stands in a record itself, and not in a value of it.
func (s *Scanner) inRecord() bool {
	return s.depth == s.inner && (s.shape != Created || s.within)
}

// expects tells whether a value that begins with c is allowed where it stands. Only the
// places of records and the way to them matter.
func (s *Scanner) expects(c byte) bool {
	switch {
	case s.depth == s.inner-1 && (s.shape != Created || s.within):
		s.records++
		return c == '{' && s.records <= s.most
	case s.depth == 0:
		return c == '[' && s.shape == List || c == '{' && s.shape == Created
	case s.shape == Created && s.within && s.depth == 1:
		return c == '['
	}
	return true
}

// named is called with each whole name of a member.
func (s *Scanner) named() {
	if s.depth > s.inner {
		return
	}
	name := ""
	if s.nameLen <= maxName {
		name = string(s.name[:s.nameLen]) // does not allocate: it is only compared
	}
	switch {
	case s.inRecord():
		s.record.reading = name == "id"
		if s.record.reading {
			s.record.ids++
		}
		if s.escaped || name == "error" && s.shape == Created {
			s.record.odd = true
		}
	case s.shape == Created && s.depth == 1:
		if s.within = name == "create"; s.within {
			s.created++
		}
		if s.escaped || s.created > 1 {
			s.failed = true
		}
	}
}

// begin is called when a value begins with c.
func (s *Scanner) begin(c byte) {
	if s.depth > s.inner {
		return
	}
	if !s.expects(c) {
		s.failed = true
		return
	}
	if s.record.reading && s.inRecord() {
		s.record.plain, s.record.id = c >= '1' && c <= '9', uint64(c-'0')
	}
}

// digit goes on with a number.
func (s *Scanner) digit(c byte) {
	if !s.record.reading || !s.inRecord() {
		return
	}
	if c < '0' || c > '9' || s.record.id > MaxID/10 {
		s.record.plain = false
		return
	}
	s.record.id = s.record.id*10 + uint64(c-'0')
}

// ended is called when the record has ended.
func (s *Scanner) ended() {
	r := s.record
	s.record = object{}
	if r.ids == 1 && r.plain && !r.odd && r.id <= MaxID && !slices.Contains(s.ids, r.id) {
		s.ids = append(s.ids, r.id)
	}
}
