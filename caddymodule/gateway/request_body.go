package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// The slowest body that the gateway waits for: portion bytes in patience, 70 kbit/s,
// which is below any mobile network that people fill in forms on. Files come over the slow half of
// a line, several at once, and outlast a network that is gone for minutes. A body that is only
// forwarded has no such limit.
const (
	patience       = 30 * time.Second
	uploadPatience = 5 * time.Minute // in parts
	portion        = 256 << 10
)

// hurriedBody ends the reading of a body that comes too slowly, so that no client holds
// memory, disk and connections by waiting.
type hurriedBody struct {
	io.ReadCloser
	w        http.ResponseWriter // of the connection
	patience time.Duration
	hurry    bool
	left     int // of the current portion
}

// hurried wraps the body of r. It leaves two cases alone: a server with a read timeout of
// its own, which a later deadline would remove, and a site that only observes.
func (s *site) hurried(w http.ResponseWriter, r *http.Request, x *exchange) io.ReadCloser {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 || s.observes(x.req.InForce) {
		return r.Body
	}
	if server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); server != nil && server.ReadTimeout > 0 {
		return r.Body
	}
	b := &x.body
	b.ReadCloser, b.w, b.patience = r.Body, w, patience
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/") {
		b.patience = uploadPatience
	}
	return b
}

// countedBody returns an error if a body ends before its announced length. Over HTTP/3 no
// other layer counts, and a FastCGI back-end would wait for the rest for ever.
type countedBody struct {
	io.ReadCloser
	left int64
}

// counted wraps the body of r if it must be counted.
func counted(r *http.Request) io.ReadCloser {
	if r.ProtoMajor < 3 || r.ContentLength <= 0 || r.Body == nil {
		return r.Body
	}
	return &countedBody{r.Body, r.ContentLength}
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left > 0 && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Unwrap returns the wrapped body, which call.Reader shares once it is loaded.
func (b *countedBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// Unwrap returns the wrapped body, which call.Reader shares once it is loaded.
func (b *hurriedBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// Hurry implements call.Hurrier.
func (b *hurriedBody) Hurry(on bool) {
	b.hurry, b.left = on, 0
	if !on {
		b.deadline(time.Time{}) // the server watches the connection from here on
	}
}

// Read implements io.Reader.
func (b *hurriedBody) Read(p []byte) (int, error) {
	if b.hurry && b.left <= 0 {
		b.left = portion
		b.deadline(time.Now().Add(b.patience))
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

// deadline ignores errors: what wraps the connection may not support deadlines.
func (b *hurriedBody) deadline(t time.Time) { _ = http.NewResponseController(b.w).SetReadDeadline(t) }
