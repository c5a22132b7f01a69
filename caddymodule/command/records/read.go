package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/restwarden/restwarden/caddymodule/record"
)

// maxLine bounds a line of a log, in bytes. Records have less than 4 KiB; the rest is for lines
// of other loggers.
const maxLine = 1 << 20

// Each reads a log line by line and gives each record to visit, which keeps nothing of it but
// strings. Other lines are counted and skipped, also those longer than 1 MiB, so that memory is
// bounded whatever the log holds. The error is that of the reader.
func Each(log io.Reader, visit func(*Record)) (n Counts, err error) {
	in := &lines{bufio.NewReaderSize(log, 64<<10), nil}
	for {
		line, whole, err := in.next()
		line = bytes.TrimSpace(line)
		switch {
		case !whole:
			n.Lines++
			n.TooLong++
		case len(line) > 0:
			if rec := n.read(line); rec != nil {
				visit(rec)
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

// read counts a line, and returns the record that it is, or nil.
func (n *Counts) read(line []byte) *Record {
	n.Lines++
	if !bytes.Contains(line, []byte(`"policy"`)) { // most lines of an access log
		if line[0] != '{' || !json.Valid(line) {
			n.NoJSON++
		}
		return nil
	}
	rec := new(Record)
	text := struct {
		RequestID *string `json:"request_id"`
		Policy    *string `json:"policy"` // "" in the record of an answer that the gateway itself could not hold
		*Record
	}{Record: rec}
	err := json.Unmarshal(line, &text)
	var wrong *json.UnmarshalTypeError
	switch {
	case line[0] != '{', err != nil && (!errors.As(err, &wrong) || wrong.Field == ""):
		n.NoJSON++
		return nil
	case rec.Version == 0 || text.Policy == nil || text.RequestID == nil: // another line of the log
		return nil
	case rec.Version != record.Version:
		n.Newer++
		return nil
	case err != nil:
		return nil
	}
	n.Records++
	rec.RequestID, rec.Policy = *text.RequestID, *text.Policy
	return rec
}
