package phpvars

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Errors of Multipart.
var (
	ErrBoundary = errors.New("multipart: no usable boundary")
	ErrParts    = errors.New("multipart: too many parts")
	ErrValues   = errors.New("multipart: values too long")
	ErrUnclear  = errors.New("multipart: parts depend on settings of the platform")
)

// MaxValues bounds the bytes of all names and values together: PHP's default for a body.
const MaxValues = 8 << 20

const (
	fillUnit    = 5120     // PHP reads lines of at most this length
	maxBoundary = 1024     // a longer one would interact with the length of a line
	maxAlone    = 64 << 10 // bytes of one variable alone, more than any that matters has
)

// Multipart reads the values of a multipart/form-data body as PHP's rfc1867
// reader does (docs/platform I.1.5): odd quoting, bare LF, folded headers, a
// preamble and a missing last delimiter are accepted, the last name of a part
// wins, a part with a file name is no value and is skipped unread. It returns
// an error of body, ErrBoundary, ErrParts, ErrValues or ErrUnclear.
func Multipart(contentType string, body io.Reader) (*Array, error) {
	pairs, err := OfMultipart(contentType, body)
	if err != nil {
		return nil, err
	}
	return pairs.all(), nil
}

// OfMultipart is Multipart for variables that are asked for one by one.
func OfMultipart(contentType string, body io.Reader) (Variables, error) {
	return multipart(contentType, body, everything(func(string, bool) {}))
}

// MultipartFiles is Multipart, and returns the names of the fields that are files,
// in order and as they were sent; PHP numbers those without a name.
func MultipartFiles(contentType string, body io.Reader) (vars *Array, files []string, err error) {
	unnamed := 0
	pairs, err := multipart(contentType, body, everything(func(name string, named bool) {
		if !named {
			name = strconv.Itoa(unnamed)
			unnamed++
		}
		files = append(files, name)
	}))
	if err != nil {
		return nil, files, err
	}
	return pairs.all(), files, nil
}

// MultipartOnly is Multipart for the one variable name. It skips other values, which take no
// memory and count towards no limit. So there may be any number of parts, but no part with
// this name beyond the limit. An array comes without its elements.
func MultipartOnly(contentType string, body io.Reader, name string) (*Array, error) {
	pairs, err := multipart(contentType, body, &want{
		value: func(param string) bool { return foldDecoded(param, name) },
		most:  maxAlone,
		file:  func(string, bool) {},
	})
	if err != nil {
		return nil, err
	}
	vars := &Array{levels: 1}
	pairs.register(vars, name)
	return vars, nil
}

// HasFiles tells whether a form may have a file in the variable name, or with "" in any. It keeps
// nothing of the form.
func HasFiles(contentType string, body io.Reader, name string) (found bool, err error) {
	_, err = multipart(contentType, body, &want{
		value: func(string) bool { return false },
		file:  func(param string, named bool) { found = found || name == "" || !named || foldDecoded(param, name) },
	})
	return found, err
}

// everything wants all values, and tells file of every file.
func everything(file func(name string, named bool)) *want {
	return &want{value: func(name string) bool { return !disputedName(name) }, file: file, most: MaxValues, all: true}
}

// want is what is wanted of a form.
type want struct {
	value func(name string) bool        // the values with such names
	file  func(name string, named bool) // told of every file
	most  int                           // bytes of all names and values together
	all   bool                          // a value that is not wanted is an error
}

func multipart(contentType string, body io.Reader, w *want) (vars Variables, err error) {
	boundary, ok := Boundary(contentType)
	if !ok || len(boundary) > maxBoundary {
		return Variables{}, ErrBoundary
	}
	m := &multipartReader{br: bufio.NewReaderSize(body, 16<<10), boundary: []byte("--" + boundary)}
	size := 0
	for parts := 0; m.header(); parts++ {
		if w.all && parts >= MaxPairs {
			return Variables{}, ErrParts
		}
		if !m.hasDisposition {
			continue
		}
		name, file, named := disposition(m.disposition)
		switch {
		case !named && !file: // PHP gives up here
			return vars, m.failed
		case file:
			w.file(name, named)
			m.skipFile()
			continue
		}
		kept := w.value(name)
		switch {
		case !kept && w.all, kept && strings.ContainsAny(name, shiftBytes):
			return Variables{}, ErrUnclear
		case kept && parts >= MaxPairs:
			return Variables{}, ErrParts
		case !kept:
			m.value(false, 0)
			continue
		}
		size += len(name)
		value := m.value(true, w.most-size)
		if m.failed != nil {
			break
		}
		size += len(value)
		vars.list = append(vars.list, pair{name, string(value)})
	}
	return vars, m.failed
}

// multipartReader walks through the parts of a body.
type multipartReader struct {
	br             *bufio.Reader
	boundary       []byte // "--" and the boundary
	disposition    string // of the current part
	hasDisposition bool
	failed         error
}

// peek looks n bytes ahead; fewer mean the end of the body.
func (m *multipartReader) peek(n int) []byte {
	b, err := m.br.Peek(n)
	if err != nil && !errors.Is(err, io.EOF) && m.failed == nil {
		m.failed = err
	}
	return b
}

// discard goes n bytes on. They have been looked at, so nothing can fail.
func (m *multipartReader) discard(n int) { _, _ = m.br.Discard(n) }

// line returns the next line without its end, valid until the next read, and how
// much of the body it takes, its end included. Longer lines come in pieces; a last
// line that is not ended does not count.
func (m *multipartReader) line() (line []byte, size int, ok bool) {
	most := max(fillUnit, len(m.boundary)+4)
	b := m.peek(most)
	if m.failed != nil {
		return nil, 0, false
	}
	i := bytes.IndexByte(b, '\n')
	switch {
	case i >= 0:
		line, size = bytes.TrimSuffix(b[:i], []byte("\r")), i+1
	case len(b) == most:
		line, size = b, most
	default:
		return nil, 0, false
	}
	line, _, _ = bytes.Cut(line, []byte{0})
	return line, size, true
}

// skipLines skips whole lines, up to a line that holds the boundary. It starts at the
// beginning of a line.
func (m *multipartReader) skipLines() {
	for len(m.peek(fillUnit)) == fillUnit {
		b, _ := m.br.Peek(m.br.Buffered())
		if i := bytes.Index(b, m.boundary); i >= 0 {
			b = b[:i]
		}
		end := bytes.LastIndexByte(b, '\n')
		if end < 0 {
			return
		}
		m.discard(end + 1)
	}
}

// header goes to the next part and reads its headers; false at the end.
func (m *multipartReader) header() bool {
	for found := false; !found; {
		m.skipLines()
		line, size, ok := m.line()
		if !ok {
			return false
		}
		found = bytes.Equal(line, m.boundary)
		m.discard(size)
	}
	m.disposition, m.hasDisposition = "", false
	const wanted = "content-disposition"
	var value []byte // of the first such header, while lines may go on with it
	first := false
	for total := 0; ; {
		line, size, ok := m.line()
		if !ok || len(line) == 0 {
			m.discard(size)
			break
		}
		if total += len(line); total > 64<<10 {
			m.failed = ErrUnclear
			return false
		}
		name, rest, colon := bytes.Cut(line, []byte(":"))
		switch {
		case colon && !space(line[0]):
			m.hasDisposition = m.hasDisposition || first
			first = !m.hasDisposition && len(name) == len(wanted) && EqualFold(string(name), wanted)
			if first {
				value = append(value, bytes.TrimLeft(rest, blanks)...)
			}
		case first: // a line without colon continues the one before
			value = append(value, line...)
		}
		m.discard(size)
	}
	m.hasDisposition = m.hasDisposition || first
	m.disposition = string(value)
	return m.failed == nil
}

// value reads the value of the current part, up to a line that begins with the
// boundary. The first line is never taken for one, as in PHP.
func (m *multipartReader) value(keep bool, limit int) (value []byte) {
	for more := true; more; more = !m.atBoundary() {
		var ended bool
		if value, ended = m.appendLine(value, keep, limit); !ended {
			return value
		}
		if !keep {
			m.skipLines()
		}
	}
	value = bytes.TrimSuffix(value, []byte("\n"))
	return bytes.TrimSuffix(value, []byte("\r"))
}

// atBoundary tells whether the next line begins with the boundary, or the body ends in
// the middle of one.
func (m *multipartReader) atBoundary() bool {
	b := m.peek(len(m.boundary))
	return bytes.Equal(b, m.boundary) || len(b) < len(m.boundary) && bytes.HasPrefix(m.boundary, b)
}

// appendLine reads one line, its end included, and appends it if it is to be kept. ended
// is false at the end of the body, and where something is wrong.
func (m *multipartReader) appendLine(value []byte, keep bool, limit int) (_ []byte, ended bool) {
	for {
		piece, err := m.br.ReadSlice('\n')
		if keep {
			value = append(value, piece...)
		}
		switch {
		case len(value) > limit:
			m.failed = ErrValues
			return nil, false
		case err == nil:
			return value, true
		case errors.Is(err, io.EOF):
			return value, false
		case !errors.Is(err, bufio.ErrBufferFull):
			m.failed = err
			return value, false
		}
	}
}

// skipFile goes to the next line that is a boundary. PHP's limits decide where it stops
// reading a file, and after that it would find a boundary within a line, too. So a boundary
// within a line is an error.
func (m *multipartReader) skipFile() {
	before := byte(0)
	for {
		b := m.peek(len(m.boundary) + 2) // fills the buffer only where less is left
		if m.failed != nil || len(b) < len(m.boundary) {
			m.discard(len(b))
			return
		}
		b, _ = m.br.Peek(m.br.Buffered())
		i := bytes.Index(b, m.boundary)
		if i < 0 { // the last bytes may begin one
			i = len(b) - len(m.boundary) + 1
			before = b[i-1]
			m.discard(i)
			continue
		}
		if i > 0 {
			before = b[i-1]
		}
		if before != '\n' {
			m.failed = ErrUnclear
			return
		}
		m.discard(i)
		if b = m.peek(len(m.boundary) + 2); ends(b[len(m.boundary):]) {
			return // header reads the line itself
		}
		m.discard(len(m.boundary))
		before = '-'
	}
}

// ends tells whether a boundary that rest follows is a whole line or the last.
func ends(rest []byte) bool {
	return len(rest) < 2 || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '-' || rest[0] == 0
}
