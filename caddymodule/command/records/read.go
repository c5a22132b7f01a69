package records

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/restwarden/restwarden/caddymodule/record"
)

// maxLine bounds a line of a log, in bytes. Records have less than 4 KiB; the rest is for lines
// of other loggers.
const maxLine = 1 << 20

// Each reads a log line by line and gives each record to visit and each call of the journal to passed, nil for none. Both keep
// nothing of it but strings. Other lines are counted and skipped, also those longer than 1 MiB, so that memory is
// bounded whatever the log holds. The error is that of the reader.
func Each(log io.Reader, visit func(*Record), passed func(*Call)) (n Counts, err error) {
	in := &lines{bufio.NewReaderSize(log, 64<<10), nil}
	for {
		line, whole, err := in.next()
		line = bytes.TrimSpace(line)
		switch {
		case !whole:
			n.Lines++
			n.TooLong++
		case len(line) > 0:
			rec, of := n.read(line)
			if rec != nil {
				visit(rec)
			}
			if of != nil && passed != nil {
				passed(of)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, fmt.Errorf("line %d: %w", n.Lines+1, err)
		}
	}
}

// Scan is Each for a log that may grow between two readings: it gives up to most records and calls to take and passed, until one
// returns an error, which Scan then returns.
func Scan(log io.Reader, most int, take func(*Record) error, passed func(*Call) error) (Counts, error) {
	var full error
	visit := func(do func() error) {
		if most--; full == nil && most >= 0 {
			full = do()
		}
	}
	var calls func(*Call)
	if passed != nil {
		calls = func(c *Call) { visit(func() error { return passed(c) }) }
	}
	n, err := Each(log, func(rec *Record) { visit(func() error { return take(rec) }) }, calls)
	return n, cmp.Or(full, err)
}

// lines reads lines of bounded length.
type lines struct {
	in   *bufio.Reader
	line []byte
}

// next returns the next line, which is valid until the next call. whole is false for a line
// that is too long; then line is its beginning.
func (l *lines) next() (line []byte, whole bool, err error) {
	l.line, whole = l.line[:0], true
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(l.line)+len(piece) > maxLine {
			whole = false
		} else {
			l.line = append(l.line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.line, whole, err
		}
	}
}

// passedMessage is the message of the journal's lines.
const passedMessage = "call passed"

// read counts a line, and returns the record or the call that it is.
func (n *Counts) read(line []byte) (*Record, *Call) {
	n.Lines++
	mayRecord, mayCall := bytes.Contains(line, []byte(`"policy"`)), bytes.Contains(line, []byte(passedMessage))
	if line[0] != '{' || !mayRecord && !mayCall && !json.Valid(line) {
		n.NoJSON++
		return nil, nil
	}
	if mayRecord { // few lines of an access log
		if rec, other := n.record(line); rec != nil || !other {
			return rec, nil
		}
	}
	if mayCall {
		return nil, n.call(line)
	}
	return nil, nil
}

// record reads a record. other tells that the line is JSON, and none.
func (n *Counts) record(line []byte) (rec *Record, other bool) {
	rec = new(Record)
	text := struct {
		RequestID *string `json:"request_id"`
		Policy    *string `json:"policy"` // "" in the record of an answer that the gateway itself could not hold
		*Record
	}{Record: rec}
	wrong, isJSON := n.parse(line, &text)
	switch {
	case !isJSON:
		return nil, false
	case rec.Version == 0 || text.Policy == nil || text.RequestID == nil:
		return nil, true
	case !n.known(rec.Version) || wrong:
		return nil, false
	}
	n.Records++
	rec.RequestID, rec.Policy = *text.RequestID, *text.Policy
	return rec, false
}

// call reads a line of the journal, nil for another one.
func (n *Counts) call(line []byte) *Call {
	c := new(Call)
	wrong, isJSON := n.parse(line, c)
	if !isJSON || c.Version == 0 || c.Message != passedMessage || c.RequestID == "" || !n.known(c.Version) || wrong {
		return nil
	}
	n.Calls++
	return c
}

// parse reads a line that begins as an object. wrong tells that a member has another type.
func (n *Counts) parse(line []byte, into any) (wrong, isJSON bool) {
	err := json.Unmarshal(line, into)
	if member, is := errors.AsType[*json.UnmarshalTypeError](err); err != nil && (!is || member.Field == "") {
		n.NoJSON++
		return false, false
	}
	return err != nil, true
}

// known counts a line of another version.
func (n *Counts) known(version int) bool {
	if version != record.Version {
		n.Newer++
	}
	return version == record.Version
}
