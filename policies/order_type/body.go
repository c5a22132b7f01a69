package ordertype

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// seenBody tells what the next handler has read of a body. Over HTTP/3 a request without a
// body has no length, and to read it ahead would change the request.
type seenBody struct {
	io.ReadCloser
	bytes atomic.Bool
	ended atomic.Bool
}

// seeBody makes the body of r one that tells, unless its length says that there is none.
func seeBody(r *http.Request) *seenBody {
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	b := &seenBody{ReadCloser: r.Body}
	r.Body = b
	return b
}

// Read implements io.Reader.
func (b *seenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.bytes.Store(true)
	}
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err
}

// Unwrap returns the wrapped body, which call.Reader shares once it is loaded.
func (b *seenBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// empty tells whether the body has certainly no bytes.
func (b *seenBody) empty() bool { return b == nil || b.ended.Load() && !b.bytes.Load() }
