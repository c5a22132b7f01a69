package answers

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

// Capture is a private ResponseWriter. It has its own header, so that a client sees
// nothing of it.
type Capture struct {
	header http.Header
	status int
	to     io.Writer // where the body goes
	size   int       // of the body
	limit  int
	failed error // why the body is not whole
}

// NewCapture returns a Capture that begins with header. Of the body it takes no more than limit
// bytes, and writes them to body.
func NewCapture(limit int, header http.Header, body io.Writer) *Capture {
	return &Capture{limit: limit, header: header, to: body}
}

// Header implements http.ResponseWriter.
func (c *Capture) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter; informational answers are ignored.
func (c *Capture) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

// Write implements http.ResponseWriter. It fails beyond the limit, and where the body cannot
// be kept, which ends the answer early.
func (c *Capture) Write(b []byte) (int, error) {
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
func (c *Capture) whole(method string) error {
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
func (c *Capture) zipped() (bool, error) {
	switch strings.ToLower(c.header.Get("Content-Encoding")) {
	case "", "identity":
		return false, nil
	case "gzip":
		c.header.Del("Content-Encoding")
		return true, nil
	}
	return false, errEncoded
}

// Run runs next with c. reverse_proxy panics if an answer ends early, and if c fails; Run turns
// every panic into an error. A question runs in its own goroutine, where nothing else would
// recover it.
func (c *Capture) Run(next caddyhttp.Handler, r *http.Request) (err error) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p != http.ErrAbortHandler: //nolint:errorlint // a panic's value, compared as net/http does
			err = fmt.Errorf("panic: %v", p)
		case c.failed != nil:
			err = c.failed
		default:
			err = errTruncated
		}
	}()
	return next.ServeHTTP(c, r)
}

// Spoiled tells whether the answer came, but is cut off or could not be taken, where Run has
// returned err. Any other error of Run is one that the site answers.
func (c *Capture) Spoiled(err error) bool { return c.failed != nil || errors.Is(err, errTruncated) }

// Status returns the status of the answer, 0 while there is none.
func (c *Capture) Status() int { return c.status }

// Plain returns the body of the answer to a request with this method, which is in body, without
// its encoding, where Run has returned err. It closes body where it returns another one, which is
// on the account of by. The error says why the answer is not whole, or cannot be decoded.
func (c *Capture) Plain(method string, body *call.Buffer, err error, by Account) (*call.Buffer, error) {
	if err = errors.Join(err, c.whole(method)); err != nil || method == http.MethodHead {
		return body, err
	}
	if zipped, err := c.zipped(); !zipped {
		return body, err
	}
	plain := by.Buffer()
	err = gunzip(plain, body.Reader(), c.limit)
	body.Close()
	return plain, err
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
