package answers

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
)

// Teach returns next, whose answer teaches a policy. It stands behind everything of the gateway
// that changes answers. By pays for what is decoded: an answer that it has no room for teaches
// nothing.
func Teach(next caddyhttp.Handler, lesson policy.Lesson, by Account) caddyhttp.Handler {
	return &learning{next, lesson, by}
}

type learning struct {
	next   caddyhttp.Handler
	lesson policy.Lesson
	by     Account
}

// ServeHTTP implements caddyhttp.Handler.
func (l *learning) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	lw := &learningWriter{ResponseWriterWrapper: wrap(w), lesson: l.lesson, by: l.by}
	whole := false
	defer func() { lw.end(whole) }() // also if the platform breaks off
	err := l.next.ServeHTTP(lw, r)
	whole = err == nil
	return err
}

// learningWriter sends an answer, and shows each part of it to a lesson once it is sent.
type learningWriter struct {
	caddyhttp.ResponseWriterWrapper
	lesson policy.Lesson
	by     Account
	begun  bool
	body   pupil // nil while, or if, nothing is learned
}

// pupil takes the body of an answer as it is sent. It never makes the sender wait.
type pupil interface {
	// write takes a piece, and tells whether it wants another.
	write(b []byte) bool
	// end is called once.
	end(whole bool)
}

func (w *learningWriter) begin(status int) {
	if w.begun || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	w.begun = true
	encoding, known := encodingOf(w.Header())
	if known && w.lesson.Begin(&ask.Answer{Status: status, Header: w.Header()}) {
		w.body = newPupil(encoding, w.lesson, w.by)
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *learningWriter) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *learningWriter) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	if w.body != nil && !w.body.write(b[:n]) {
		w.end(false)
	}
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that an answer which teaches nothing is still sent
// by the kernel.
func (w *learningWriter) ReadFrom(r io.Reader) (int64, error) {
	w.begin(http.StatusOK)
	if w.body == nil {
		return w.ResponseWriterWrapper.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// FlushError implements the optional interface of http.ResponseController.
func (w *learningWriter) FlushError() error {
	w.begin(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *learningWriter) end(whole bool) {
	if w.body != nil {
		w.body.end(whole)
		w.body = nil
	}
}

// plainPupil reads a body that has no encoding.
type plainPupil struct{ policy.Lesson }

func (p plainPupil) write(b []byte) bool {
	_, err := p.Write(b)
	return err == nil
}

func (p plainPupil) end(whole bool) { p.End(whole) }

// newPupil returns what reads a body of an encoding for a lesson that has begun. It returns
// nil if too many are read already.
func newPupil(encoding string, l policy.Lesson, by Account) pupil {
	if encoding == "" {
		return plainPupil{l}
	}
	if d := startDecoding(encoding, l, by); d != nil {
		return d
	}
	l.End(false)
	return nil
}
