package call

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// A body takes memory while it is sent: first one chunk, then more chunks up to inMemory,
// as long as Memory allows them. The rest is spooled. Bytes that have not come take no
// memory.
const (
	chunkSize = 4 << 10
	inMemory  = 64 << 10
)

// body replaces the body of a request. It keeps what load has read. The next handler reads
// that again: first memory, then the file, then what the client still sends.
type body struct {
	client   io.ReadCloser
	length   int64 // announced by the client, -1 where it is not
	spool    *budget.Spool
	memory   *budget.Memory
	holder   budget.Holder
	users    atomic.Int32 // readings that are not closed
	chunks   [][]byte     // all but the last are full
	first    [1][]byte    // the space of chunks; enough for most bodies
	held     int64        // of memory, for chunks
	file     *budget.File
	complete bool // the client has sent everything
	failed   *Refusal
	offset   int64

	whole    []byte // the loaded body in one piece, see bytes
	borrowed int64  // of memory, for whole and what is read out of it
}

// kept returns how much of the body is in memory.
func (b *body) kept() int64 {
	if len(b.chunks) == 0 {
		return 0
	}
	return int64(len(b.chunks)-1)*chunkSize + int64(len(b.chunks[len(b.chunks)-1]))
}

// size returns how much load has read.
func (b *body) size() int64 {
	if b.file != nil {
		return b.kept() + b.file.Size()
	}
	return b.kept()
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
		b.offset = -1 // these bytes are gone, and load has not seen them
	}
	return n, err
}

func (b *body) readAt(p []byte, at int64) (int, error) {
	if at < b.kept() {
		return copy(p, b.chunks[at/chunkSize][at%chunkSize:]), nil
	}
	n, err := b.file.ReadAt(p, at-b.kept())
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Close serves the next handler. What load has read is kept until discard.
func (b *body) Close() error { return b.client.Close() }

func (b *body) discard() {
	b.settle()
	b.memory.Chunks.Free(b.holder, b.held)
	if b.file != nil {
		b.file.Remove()
	}
}

// leave ends one of the readings that share the body. The last one discards it.
func (b *body) leave() {
	if b.users.Add(-1) == 0 {
		b.discard()
	}
}

// loadedBody returns the body that another reading of the same request has loaded, for this
// reading to share. It returns nil if there is none: a second copy on disk would not fit into
// the client's share. A wrapper that has Unwrap changes nothing of a loaded body.
func loadedBody(r io.ReadCloser) *body {
	for {
		switch w := r.(type) {
		case interface{ Unwrap() io.ReadCloser }:
			r = w.Unwrap()
		case *body:
			if w.complete && w.offset == 0 && w.join() {
				return w
			}
			return nil
		default:
			return nil
		}
	}
}

// join adds a reading, unless the last one has ended.
func (b *body) join() bool {
	for n := b.users.Load(); n > 0; n = b.users.Load() {
		if b.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// load reads the body up to limit, once, and gives r its length.
func (b *body) load(r *http.Request, limit int64) *Refusal {
	switch {
	case b.failed != nil:
		return b.failed
	case b.complete && b.size() > limit, !b.complete && b.length > limit:
		return errTooLarge
	case b.complete:
		return nil
	case b.offset != 0:
		return errBrokenBody // forwarded already
	case b.neverFits(b.length):
		return errNeverFits
	}
	if b.failed = b.fill(limit); b.failed != nil {
		return b.failed
	}
	if b.length >= 0 && b.size() != b.length { // HTTP/3 leaves it to us to count
		b.failed = errBrokenBody
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

// Hurrier is a request body that bounds how slowly a client may send it, while the gateway
// waits for all of it.
type Hurrier interface {
	Hurry(on bool)
}

func (b *body) fill(limit int64) *Refusal {
	if h, ok := b.client.(Hurrier); ok {
		h.Hurry(true)
		defer h.Hurry(false)
	}
	for {
		err := b.readChunk()
		switch {
		case b.size() > limit:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if refusal, ok := errors.AsType[*Refusal](err); ok {
				return refusal
			}
			return errBrokenBody
		}
	}
}

// readChunk reads once, into the last chunk, a new one, or the file.
func (b *body) readChunk() error {
	last := len(b.chunks) - 1
	if last < 0 || len(b.chunks[last]) == chunkSize {
		if b.file != nil || !b.grow() {
			return b.readIntoFile()
		}
		last++
	}
	chunk := b.chunks[last]
	if len(chunk) == cap(chunk) { // it was made small, for a body that announced so
		chunk = append(chunk, 0)[:len(chunk)]
	}
	n, err := b.client.Read(chunk[len(chunk):min(cap(chunk), chunkSize)])
	b.chunks[last] = chunk[:len(chunk)+n]
	return err
}

// grow begins another chunk, if there is memory for it.
func (b *body) grow() bool {
	size := int64(chunkSize)
	switch {
	case b.kept() >= inMemory:
		return false
	case len(b.chunks) > 0 && b.memory.Chunks.Try(b.holder, size) != nil:
		return false
	case len(b.chunks) > 0:
		b.held += size
	case b.length >= 0:
		size = min(size, b.length+1) // one more, to see the end
	}
	if b.chunks == nil {
		b.chunks = b.first[:0]
	}
	b.chunks = append(b.chunks, make([]byte, 0, size))
	return true
}

// portions are buffers for bytes on the way to a file.
var portions = sync.Pool{New: func() any { return new([2 * chunkSize]byte) }}

func (b *body) readIntoFile() error {
	portion := portions.Get().(*[2 * chunkSize]byte)
	defer portions.Put(portion)
	n, err := b.client.Read(portion[:])
	if n > 0 {
		if refusal := b.keep(portion[:n]); refusal != nil {
			return refusal
		}
	}
	return err
}

// neverFits tells whether a body of size bytes is larger than its holder's share of the
// spool, even with the beginning of the body in memory.
func (b *body) neverFits(size int64) bool { return size-inMemory > b.spool.Shares.Of(b.holder) }

// keep appends p to the file. Where that fails, p goes back to the client's body: a
// gateway that only observes still forwards it.
func (b *body) keep(p []byte) *Refusal {
	err := b.write(p, b.spool.Create)
	if err == nil {
		return nil
	}
	b.client = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(bytes.Clone(p)), b.client), b.client}
	if b.neverFits(b.size() + int64(len(p))) {
		return errNeverFits
	}
	if _, full := errors.AsType[budget.FullError](err); full {
		return spoolFull(err)
	}
	return diskFails(err)
}

// write appends p to the file, which create makes.
func (b *body) write(p []byte, create func(budget.Holder) (*budget.File, error)) (err error) {
	if b.file == nil {
		if b.file, err = create(b.holder); err != nil {
			return err
		}
	}
	return b.file.Append(p)
}

// hasVariable tells whether the loaded body, as a form, may set a variable.
func (b *body) hasVariable(name string) bool {
	if b.file == nil && len(b.chunks) == 1 {
		form := text(b.chunks[0])
		return phpvars.Has(form, name) || phpvars.Separated(form, name)
	}
	return phpvars.HasReader(b.reader(), name)
}

// reader reads the loaded body from its beginning.
func (b *body) reader() io.Reader {
	if b.file == nil && len(b.chunks) == 1 {
		return bytes.NewReader(b.chunks[0])
	}
	return io.NewSectionReader(loaded{b}, 0, b.size())
}

// loaded reads what load has kept.
type loaded struct{ *body }

// ReadAt implements io.ReaderAt.
func (l loaded) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at < l.size() {
		m, err := l.readAt(p[n:], at)
		if n, at = n+m, at+int64(m); err != nil {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
