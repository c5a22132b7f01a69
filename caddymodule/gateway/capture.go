package gateway

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call"
)

// capture is a private ResponseWriter. It has its own header, so that a client sees
// nothing of it, and it takes no more than limit bytes of a body.
type capture struct {
	header http.Header
	status int
	to     io.Writer // where the body goes
	size   int       // of the body
	limit  int
	failed error // why the body is not whole
}

func newCapture(limit int, header http.Header, to io.Writer) *capture {
	return &capture{limit: limit, header: header, to: to}
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter; informational answers are ignored.
func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

// Write implements http.ResponseWriter. It fails beyond the limit, and where the body cannot
// be kept, which ends the answer early.
func (c *capture) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	if c.failed == nil && c.size+len(b) > c.limit {
		c.failed = errTooLarge
	}
	if c.failed == nil {
		_, c.failed = c.to.Write(b)
	}
	if c.failed != nil {
		return 0, c.failed
	}
	c.size += len(b)
	return len(b), nil
}

var (
	errTooLarge  = errors.New("the answer is too large")
	errTruncated = errors.New("the answer is truncated")
	errNoAnswer  = errors.New("no answer")
	errEncoded   = errors.New("the answer has an encoding that was not asked for")
)

// whole returns an error if the captured answer to a request with this method is not complete.
func (c *capture) whole(method string) error {
	length := c.header.Get("Content-Length")
	switch {
	case c.failed != nil:
		return c.failed
	case c.status == 0:
		return errNoAnswer
	case method != http.MethodHead && length != "" && length != strconv.Itoa(c.size):
		return errTruncated
	}
	return nil
}

// zipped tells whether the body is in gzip, which the answer then no longer says. It returns
// an error for any other encoding.
func (c *capture) zipped() (bool, error) {
	switch strings.ToLower(c.header.Get("Content-Encoding")) {
	case "", "identity":
		return false, nil
	case "gzip":
		c.header.Del("Content-Encoding")
		return true, nil
	}
	return false, errEncoded
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
		case w.failed != nil:
			err = w.failed
		default:
			err = errTruncated
		}
	}()
	return next.ServeHTTP(w, r)
}

// gunzip decodes an answer of a platform that compresses without being asked.
func gunzip(to io.Writer, from io.Reader, limit int) error {
	z, err := gzip.NewReader(from)
	if err != nil {
		return fmt.Errorf("%w: %w", errTruncated, err)
	}
	left := &io.LimitedReader{R: z, N: int64(limit) + 1}
	_, err = io.Copy(to, left)
	refusal, full := errors.AsType[*call.Refusal](err)
	switch {
	case full:
		return refusal
	case err != nil:
		return fmt.Errorf("%w: %w", errTruncated, err)
	case left.N == 0:
		return errTooLarge
	}
	return nil
}
