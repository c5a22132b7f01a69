package confirming

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/restwarden/restwarden/policies/ask"
)

// Attempt is a call that has used up a confirmation, on its way to the platform. It is the
// ResponseWriter for the answer, which it holds if the answer may say that the call never ran, so
// that a client which repeats the call at once finds the confirmation given back.
type Attempt struct {
	heldWriter
	unread unreadBody
}

// NewAttempt returns an Attempt whose answer goes to w. It holds no more than most bytes of those
// answers for which may is true.
func NewAttempt(w http.ResponseWriter, next caddyhttp.Handler, most int, may func(status int, h http.Header) bool) *Attempt {
	return &Attempt{
		heldWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, most: most, may: may},
		unreadBody{next: next},
	}
}

// Next is what the call has to be sent to.
func (a *Attempt) Next() caddyhttp.Handler { return &a.unread }

// NeverRan tells whether the handlers, which have returned err for r, have certainly not run the
// call.
func (a *Attempt) NeverRan(r *http.Request, err error) bool {
	return err != nil && a.status == 0 && (a.unread.seal() || dialFailed(r, err))
}

// dialFailed tells whether err says that a request never left: the one attempt to send it ended
// before there was a connection, and no backend has answered it before (handle_response).
func dialFailed(r *http.Request, err error) bool {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if _, dial := errors.AsType[reverseproxy.DialError](err); !dial || !ok {
		return false
	}
	_, answered := repl.Get("http.reverse_proxy.status_code")
	retries, _ := repl.Get("http.reverse_proxy.retries")
	return !answered && retries == 0
}

// unreadBody tells whether anybody has read of the body that a request has: without it nobody
// can have run the call.
type unreadBody struct {
	next caddyhttp.Handler
	io.ReadCloser
	state atomic.Int32
}

// The states of an unreadBody.
const (
	bodyUnread = iota
	bodyRead
	bodySealed
)

// ServeHTTP implements caddyhttp.Handler.
func (b *unreadBody) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength == 0 || r.Body == nil {
		b.state.Store(bodyRead)
		return b.next.ServeHTTP(w, r)
	}
	b.ReadCloser, r.Body = r.Body, b
	return b.next.ServeHTTP(w, r)
}

// Read implements io.Reader.
func (b *unreadBody) Read(p []byte) (int, error) {
	if !b.state.CompareAndSwap(bodyUnread, bodyRead) && b.state.Load() == bodySealed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.ReadCloser.Read(p)
}

// seal tells whether the body is unread, and stays so: a transport may go on in the background.
func (b *unreadBody) seal() bool { return b.state.CompareAndSwap(bodyUnread, bodySealed) }

// heldWriter holds an answer for which may is true, up to most bytes. All others stream.
type heldWriter struct {
	caddyhttp.ResponseWriterWrapper
	most   int
	may    func(status int, h http.Header) bool
	status int
	held   bytes.Buffer
	passes bool // nothing is held any more
}

// WriteHeader implements http.ResponseWriter; informational answers pass.
func (w *heldWriter) WriteHeader(status int) {
	switch {
	case w.status != 0:
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		w.ResponseWriter.WriteHeader(status)
	default:
		w.status = status
		if !w.may(status, w.Header()) {
			w.Release()
		}
	}
}

// Write implements http.ResponseWriter.
func (w *heldWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.passes && w.held.Len()+len(b) <= w.most {
		return w.held.Write(b)
	}
	w.Release()
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom.
func (w *heldWriter) ReadFrom(r io.Reader) (int64, error) {
	w.WriteHeader(http.StatusOK)
	if w.passes {
		return w.ResponseWriterWrapper.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// FlushError implements the optional interface of http.ResponseController.
func (w *heldWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.passes {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Answer returns the answer if all of it is held, or nil.
func (w *heldWriter) Answer() *ask.Answer {
	if w.status == 0 || w.passes {
		return nil
	}
	return &ask.Answer{Status: w.status, Body: w.held.Bytes()}
}

// Release sends what is held.
func (w *heldWriter) Release() {
	if w.passes || w.status == 0 {
		return
	}
	w.passes = true
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(w.held.Bytes()) // an error: the client has gone
	w.held = bytes.Buffer{}
}
