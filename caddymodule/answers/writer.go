package answers

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

func wrap(w http.ResponseWriter) caddyhttp.ResponseWriterWrapper {
	return caddyhttp.ResponseWriterWrapper{ResponseWriter: w}
}

// HeadReader is told how an answer begins, before anything of it is sent. With an error,
// nothing is.
type HeadReader interface {
	Head(w *Writer, status int) error
}

// Writer streams an answer.
type Writer struct {
	caddyhttp.ResponseWriterWrapper
	head   HeadReader
	sent   bool
	failed error

	begin []byte // of the body, while it is watched
	most  int
	begun func(begin []byte)
}

// Start makes w stream to client, and call head once.
func (w *Writer) Start(client http.ResponseWriter, head HeadReader) {
	w.ResponseWriterWrapper, w.head = wrap(client), head
}

// Watch makes w call begun once: with the first most bytes of the body before they are
// sent, or with the whole body if it is shorter, once it has ended.
func (w *Writer) Watch(most int, begun func(begin []byte)) {
	w.most, w.begun = most, begun
}

// End says that no more of the body comes, also if the platform breaks off.
func (w *Writer) End() { w.seen(nil, true) }

func (w *Writer) seen(b []byte, ended bool) {
	if w.begun == nil {
		return
	}
	w.begin = append(w.begin, b[:min(len(b), w.most-len(w.begin))]...)
	if ended || len(w.begin) == w.most {
		w.begun(w.begin)
		w.begun = nil
	}
}

// WriteHeader implements http.ResponseWriter; informational answers pass.
func (w *Writer) WriteHeader(status int) {
	if w.sent {
		return
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.sent = true
	if w.failed = w.head.Head(w, status); w.failed == nil {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.failed != nil {
		return len(b), nil //nolint:nilerr // Finish reports the failure
	}
	w.seen(b, false)
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom, so that files are still sent by the kernel.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.failed != nil:
		return io.Copy(io.Discard, r)
	case w.begun != nil:
		return io.Copy(struct{ io.Writer }{w}, r)
	}
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError implements the optional interface of http.ResponseController: a
// flush sends the header too.
func (w *Writer) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if w.failed != nil {
		return nil //nolint:nilerr // Finish reports the failure
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush implements http.Flusher, for handlers that know no http.ResponseController.
func (w *Writer) Flush() { _ = w.FlushError() } // it has no way to tell

// Hijack implements http.Hijacker, likewise. Nothing of an answer that must not be sent may
// follow on the connection.
func (w *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.failed != nil {
		return nil, nil, w.failed
	}
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.sent = w.sent || err == nil // by the handler
	return conn, rw, err
}

// Finish ends the answer after the handler has returned err. A handler that wrote nothing
// has answered with an empty 200. Finish returns why nothing of the answer was sent, where the
// HeadReader has failed, and calls it never again.
func (w *Writer) Finish(err error) error {
	if err == nil {
		w.WriteHeader(http.StatusOK)
	}
	w.sent = true
	return w.failed
}

// Sent tells whether the head of an answer has come.
func (w *Writer) Sent() bool { return w.sent }

// headOnlyWriter sends status and header of the answer to a preflight, but no body. It
// also removes headers that describe the route, such as Allow, since rules do not apply
// to a preflight.
type headOnlyWriter struct {
	caddyhttp.ResponseWriterWrapper
	before http.Header // set by handlers around the gateway
	sent   bool
}

// HeadOnly returns a ResponseWriter for the answer to a preflight that is sent to w.
func HeadOnly(w http.ResponseWriter) http.ResponseWriter {
	return &headOnlyWriter{ResponseWriterWrapper: wrap(w), before: w.Header().Clone()}
}

// WriteHeader implements http.ResponseWriter.
func (w *headOnlyWriter) WriteHeader(status int) {
	if w.sent {
		return
	}
	w.sent = status >= 200
	for name := range w.Header() {
		if _, outer := w.before[name]; !outer && !strings.HasPrefix(name, "Access-Control-") && !preflightHeaders[name] {
			w.Header().Del(name)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

var preflightHeaders = map[string]bool{"Vary": true, "Cache-Control": true, "Date": true, "Server": true, "Via": true}

// Write implements http.ResponseWriter and drops b.
func (w *headOnlyWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return len(b), nil
}

// ReadFrom implements io.ReaderFrom and drops what it reads.
func (w *headOnlyWriter) ReadFrom(r io.Reader) (int64, error) {
	w.WriteHeader(http.StatusOK)
	return io.Copy(io.Discard, r)
}

// FlushError implements the optional interface of http.ResponseController.
func (w *headOnlyWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Interface guard
var _ http.ResponseWriter = (*Writer)(nil)

// Send answers r with a and body. It drops headers that describe the body before it was
// rewritten.
func Send(w http.ResponseWriter, r *http.Request, a *ask.Answer, body *call.Buffer) error {
	clear(w.Header())
	maps.Copy(w.Header(), a.Header)
	for _, name := range []string{"Etag", "Last-Modified", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges", "Trailer"} {
		w.Header().Del(name)
	}
	w.Header().Del("Content-Length")
	if r.Method != http.MethodHead && a.Status != http.StatusNoContent && a.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.FormatInt(body.Size(), 10))
	}
	w.WriteHeader(a.Status)
	_, err := io.Copy(w, body.Reader())
	return err
}
