package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
)

// forwardConfirmed forwards a call that has used up a confirmation, and gives it back if the
// call provably never ran. An answer that may say so is held until that is done, so that a
// client which repeats the call at once finds it.
func (s *site) forwardConfirmed(w http.ResponseWriter, x *exchange) error {
	x.r.Header.Set("Accept-Encoding", "identity")
	held, unread := &heldWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}, &unreadBody{next: x.next}
	x.next = unread
	defer s.answered(x, nil, false) // where the platform breaks off; it does nothing a second time
	err := s.forward(held, x)
	never := err != nil && held.status == 0 && (unread.seal() || dialFailed(x.r, err))
	s.answered(x, held.answer(), never)
	held.release()
	return err
}

// answered ends the use of the confirmation of x, if there is one.
func (s *site) answered(x *exchange, a *ask.Answer, never bool) {
	// The client may have gone.
	back, err := abilities.Answered(context.WithoutCancel(x.r.Context()), &x.req, a, never)
	switch {
	case err != nil:
		s.logger.Warn("a used confirmation could not be ended", zap.String("site", s.Name), zap.Error(err))
	case back:
		s.logger.Info("confirmation given back: the call never ran", zap.String("site", s.Name), zap.String("request_id", x.id()))
	}
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

// heldWriter holds an answer that may say that a call never ran, up to maxHeard bytes. All
// others stream.
type heldWriter struct {
	caddyhttp.ResponseWriterWrapper
	status int
	body   bytes.Buffer
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
		if !abilities.ReadsAnswer(status) || !isPlainJSON(w.Header()) {
			w.release()
		}
	}
}

// Write implements http.ResponseWriter.
func (w *heldWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.passes && w.body.Len()+len(b) <= maxHeard {
		return w.body.Write(b)
	}
	w.release()
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

// answer returns the answer if all of it is held.
func (w *heldWriter) answer() *ask.Answer {
	if w.status == 0 || w.passes {
		return nil
	}
	return &ask.Answer{Status: w.status, Body: w.body.Bytes()}
}

// release sends what is held.
func (w *heldWriter) release() {
	if w.passes || w.status == 0 {
		return
	}
	w.passes = true
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(w.body.Bytes()) //nolint:gosec // the platform's answer as it came; an error: the client has gone
	w.body = bytes.Buffer{}
}
