package call

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

const inMemory = 64 << 10 // of a body; the rest of it is spooled

// body stands in for the body of a request. What load has read of it is kept
// and read again by the next handler: first memory, then the file, then what
// the client still sends.
type body struct {
	client   io.ReadCloser
	length   int64 // announced by the client, -1 where it is not
	spool    *Spool
	memory   []byte
	file     *spoolFile
	complete bool // the client has sent everything
	failed   *Refusal
	offset   int64
	once     sync.Once
}

// size returns how much load has read.
func (b *body) size() int64 {
	if b.file != nil {
		return int64(len(b.memory)) + b.file.size
	}
	return int64(len(b.memory))
}

// Read serves the next handler, byte for byte what the client sent.
func (b *body) Read(p []byte) (n int, err error) {
	if b.offset >= 0 && b.offset < b.size() {
		n, err = b.readAt(p, b.offset)
		b.offset += int64(n)
		return n, err
	}
	if b.complete {
		return 0, io.EOF
	}
	n, err = b.client.Read(p)
	if b.offset == 0 && n > 0 {
		b.offset = -1 // gone, unread by load
	}
	return n, err
}

func (b *body) readAt(p []byte, at int64) (int, error) {
	if at < int64(len(b.memory)) {
		return copy(p, b.memory[at:]), nil
	}
	n, err := b.file.ReadAt(p, at-int64(len(b.memory)))
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Close serves the next handler; what load has kept stays until discard.
func (b *body) Close() error { return b.client.Close() }

func (b *body) discard() {
	b.once.Do(func() {
		if b.file != nil {
			b.file.remove()
		}
	})
}

// load reads the body up to limit, once, and gives r its length.
func (b *body) load(r *http.Request, limit int64) *Refusal {
	switch {
	case b.failed != nil:
		return b.failed
	case b.complete && b.size() > limit, !b.complete && b.length > limit:
		return tooLarge
	case b.complete:
		return nil
	case b.offset != 0:
		return brokenBody // forwarded already
	}
	if b.failed = b.fill(limit); b.failed != nil {
		return b.failed
	}
	if b.length >= 0 && b.size() != b.length { // HTTP/3 leaves it to us to count
		b.failed = brokenBody
		return b.failed
	}
	b.complete = true
	r.ContentLength, r.TransferEncoding, r.Trailer = b.size(), nil, nil
	delete(r.Header, "Trailer")
	if b.length < 0 { // FastCGI back-ends know the length by the header only
		r.Header["Content-Length"] = []string{strconv.FormatInt(b.size(), 10)}
	}
	return nil
}

var chunks = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Hurrier is a request body that can be told that somebody waits for all of it,
// and then bounds how slowly a client may send it.
type Hurrier interface {
	Hurry(on bool)
}

func (b *body) fill(limit int64) *Refusal {
	if h, ok := b.client.(Hurrier); ok {
		h.Hurry(true)
		defer h.Hurry(false)
	}
	first := int64(inMemory)
	if b.length >= 0 {
		first = min(first, b.length)
	}
	var ended bool
	var err error
	if b.memory, ended, err = readUpTo(b.client, int(first)); err != nil {
		return brokenBody
	}
	if b.size() > limit {
		return tooLarge
	}
	if ended || b.length == first && b.atEnd() {
		return nil
	}
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	for {
		n, err := b.client.Read(chunk[:])
		if n > 0 {
			if refusal := b.keep(chunk[:n]); refusal != nil {
				return refusal
			}
			if b.size() > limit {
				return tooLarge
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return brokenBody
		}
	}
}

// atEnd confirms that an announced body ends where it was said to.
func (b *body) atEnd() bool {
	var p [1]byte
	n, err := b.client.Read(p[:])
	b.memory = append(b.memory, p[:n]...)
	return n == 0 && err == io.EOF
}

func (b *body) keep(p []byte) *Refusal {
	if b.file == nil {
		f, err := b.spool.create()
		if err != nil {
			b.memory = append(b.memory, p...) // still forwarded under observe
			return spoolFull
		}
		b.file = f
	}
	if !b.file.append(p) {
		b.client = readCloser{io.MultiReader(bytes.NewReader(bytes.Clone(p)), b.client), b.client}
		return spoolFull
	}
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// readUpTo reads at most n bytes; ended tells whether the input is over.
func readUpTo(r io.Reader, n int) (data []byte, ended bool, err error) {
	data = make([]byte, 0, min(n, 4<<10))
	for len(data) < n {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		m, err := r.Read(data[len(data):min(cap(data), n)])
		data = data[:len(data)+m]
		if err == io.EOF {
			return data, true, nil
		}
		if err != nil {
			return data, false, err
		}
	}
	return data, false, nil
}

// hasVariable tells whether the loaded body, as a form, may set a variable.
func (b *body) hasVariable(name string) bool {
	if b.file == nil {
		return phpvars.Has(string(b.memory), name)
	}
	return phpvars.HasReader(b.reader(), name)
}

// reader reads the loaded body from its beginning.
func (b *body) reader() io.Reader {
	if b.file == nil {
		return bytes.NewReader(b.memory)
	}
	return io.MultiReader(bytes.NewReader(b.memory), io.NewSectionReader(b.file, 0, b.file.size))
}

// bytes returns the loaded body; the caller must not change it.
func (b *body) bytes() ([]byte, *Refusal) {
	if b.file == nil {
		return b.memory, nil
	}
	all := make([]byte, b.size())
	if _, err := io.ReadFull(b.reader(), all); err != nil {
		return nil, brokenBody
	}
	return all, nil
}
