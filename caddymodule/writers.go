package caddymodule

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
)

func wrap(w http.ResponseWriter) caddyhttp.ResponseWriterWrapper {
	return caddyhttp.ResponseWriterWrapper{ResponseWriter: w}
}

// headReader is told how an answer begins, before anything of it is sent. With an error,
// nothing is.
type headReader interface {
	head(w *answerWriter, status int) error
}

// answerWriter streams an answer. It calls head once.
type answerWriter struct {
	caddyhttp.ResponseWriterWrapper
	to     headReader
	sent   bool
	failed error

	begin []byte // of the body, while it is watched
	most  int
	begun func(begin []byte)
}

// watch makes w call begun once: with the first most bytes of the body before they are
// sent, or with the whole body if it is shorter, once it has ended.
func (w *answerWriter) watch(most int, begun func(begin []byte)) {
	w.most, w.begun = most, begun
}

func (w *answerWriter) seen(b []byte, ended bool) {
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
func (w *answerWriter) WriteHeader(status int) {
	if w.sent {
		return
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.sent = true
	if w.failed = w.to.head(w, status); w.failed == nil {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.failed != nil {
		return len(b), nil //nolint:nilerr // finish reports the failure
	}
	w.seen(b, false)
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom, so that files are still sent by the kernel.
func (w *answerWriter) ReadFrom(r io.Reader) (int64, error) {
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
func (w *answerWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if w.failed != nil {
		return nil //nolint:nilerr // finish reports the failure
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// finish ends the answer after the handler has returned err. A handler that wrote nothing
// has answered with an empty 200.
func (w *answerWriter) finish(err error) {
	if err == nil {
		w.WriteHeader(http.StatusOK)
	}
}

// headOnlyWriter sends status and header of the answer to a preflight, but no body. It
// also removes headers that describe the route, such as Allow, since rules do not apply
// to a preflight.
type headOnlyWriter struct {
	caddyhttp.ResponseWriterWrapper
	before http.Header // set by handlers around the gateway
	sent   bool
}

func newHeadOnly(w http.ResponseWriter) *headOnlyWriter {
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

// capture is a private ResponseWriter. It has its own header, so that a client sees
// nothing of it, and it holds no more than limit bytes.
type capture struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	limit    int
	overflow bool
}

func newCapture(limit int, header http.Header) *capture {
	return &capture{limit: limit, header: header}
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter; informational answers are ignored.
func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

// Write implements http.ResponseWriter. It fails beyond the limit, which ends the answer
// early.
func (c *capture) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	if c.overflow || c.body.Len()+len(b) > c.limit {
		c.overflow = true
		return 0, errTooLarge
	}
	return c.body.Write(b)
}

var (
	errTooLarge  = errors.New("the answer is too large")
	errTruncated = errors.New("the answer is truncated")
	errNoAnswer  = errors.New("no answer")
	errEncoded   = errors.New("the answer has an encoding that was not asked for")
)

// answer returns the captured answer to a request with this method, decoded. It returns
// an error if the answer is not complete.
func (c *capture) answer(method string) (*ask.Answer, error) {
	switch {
	case c.overflow:
		return nil, errTooLarge
	case c.status == 0:
		return nil, errNoAnswer
	}
	if method == http.MethodHead {
		return &ask.Answer{Status: c.status, Header: c.header}, nil
	}
	if length := c.header.Get("Content-Length"); length != "" && length != strconv.Itoa(c.body.Len()) {
		return nil, errTruncated
	}
	body := c.body.Bytes()
	switch strings.ToLower(c.header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip":
		var err error
		if body, err = gunzip(body, c.limit); err != nil {
			return nil, err
		}
		c.header.Del("Content-Encoding")
	default:
		return nil, errEncoded
	}
	return &ask.Answer{Status: c.status, Header: c.header, Body: body}, nil
}

// capturing runs next with w. reverse_proxy panics if an answer ends early, and if w
// fails; capturing turns every panic into an error. A question runs in its own goroutine,
// where nothing else would recover it.
func capturing(w *capture, next caddyhttp.Handler, r *http.Request) (err error) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p != http.ErrAbortHandler: //nolint:errorlint // a panic's value, compared as net/http does
			err = fmt.Errorf("panic: %v", p)
		case w.overflow:
			err = errTooLarge
		default:
			err = errTruncated
		}
	}()
	return next.ServeHTTP(w, r)
}

// gunzip decodes an answer of a platform that compresses without being asked.
func gunzip(b []byte, limit int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTruncated, err)
	}
	var plain bytes.Buffer
	n, err := io.Copy(&plain, io.LimitReader(z, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errTruncated, err)
	case n > int64(limit):
		return nil, errTooLarge
	}
	return plain.Bytes(), nil
}

// send answers with a. It drops headers that describe the body before it was rewritten.
func send(w http.ResponseWriter, r *http.Request, a *ask.Answer) error {
	clear(w.Header())
	maps.Copy(w.Header(), a.Header)
	for _, name := range []string{"Etag", "Last-Modified", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges", "Trailer"} {
		w.Header().Del(name)
	}
	w.Header().Del("Content-Length")
	if r.Method != http.MethodHead && a.Status != http.StatusNoContent && a.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, err := w.Write(a.Body)
	return err
}
