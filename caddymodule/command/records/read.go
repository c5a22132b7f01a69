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

// Visit is what gets the lines of a log. A nil one is not called, and no line is read for it alone. After an error none is called any
// more. They keep nothing of a line but strings.
type Visit struct {
	Record func(*Record) error
	Call   func(*Call) error
	Access func(*Access) error
}

// Each reads a log line by line and gives up to most lines to v: a log may grow between two readings. Other lines are counted and
// skipped, also those longer than 1 MiB, so that memory is bounded whatever the log holds. The error is that of v, or of the
// reader.
func Each(log io.Reader, most int, v Visit) (n Counts, err error) {
	in, stopped := &lines{bufio.NewReaderSize(log, 64<<10), nil}, error(nil)
	for {
		line, whole, err := in.next()
		line = bytes.TrimSpace(line)
		switch {
		case !whole:
			n.Lines++
			n.TooLong++
		case len(line) > 0:
			if do := n.read(line, &v); do != nil && stopped == nil && most > 0 {
				most--
				stopped = do()
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, stopped
		case err != nil:
			return n, cmp.Or(stopped, fmt.Errorf("line %d: %w", n.Lines+1, err))
		}
	}
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

// handledMessage is the message of the lines of an access log.
const handledMessage = "handled request"

// read counts a line, and returns what gives it to v; nil for one that is not for v.
func (n *Counts) read(line []byte, v *Visit) func() error {
	n.Lines++
	mayRecord, mayCall, mayAccess := bytes.Contains(line, []byte(`"policy"`)), bytes.Contains(line, []byte(passedMessage)), v.Access != nil && bytes.Contains(line, []byte(handledMessage))
	if line[0] != '{' || !mayRecord && !mayCall && !mayAccess && !json.Valid(line) {
		n.NoJSON++
		return nil
	}
	if mayRecord { // few lines of an access log
		switch rec, other := n.record(line); {
		case rec != nil && v.Record != nil:
			return func() error { return v.Record(rec) }
		case rec != nil || !other:
			return nil
		}
	}
	if mayCall {
		if c := n.call(line); c != nil && v.Call != nil {
			return func() error { return v.Call(c) }
		} else if c != nil {
			return nil
		}
	}
	if mayAccess {
		if a := n.access(line); a != nil {
			return func() error { return v.Access(a) }
		}
	}
	return nil
}

// access reads a line of an access log, nil for another one.
func (n *Counts) access(line []byte) *Access {
	var a accessLine
	wrong, isJSON := n.parse(line, &a)
	if !isJSON || wrong || a.Message != handledMessage || a.Request.URI == "" || a.Request.Method == "" {
		return nil
	}
	n.Requests++
	r := &a.Request
	return &Access{Time: a.Time, Method: r.Method, Host: r.Host, URI: r.URI, ClientIP: cmp.Or(r.ClientIP, r.RemoteIP), SaysWho: r.Headers.saysWho(), Overrides: r.Headers.overrides()}
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
