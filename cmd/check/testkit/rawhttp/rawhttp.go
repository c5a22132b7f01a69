// Package rawhttp sends requests over HTTP/1.1, 2 and 3 exactly as written, even if they
// are wrong. Client libraries repair or refuse what an attacker sends.
package rawhttp

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strconv"
)

// The protocols by name.
const (
	Protocol1 = "HTTP/1.1"
	Protocol2 = "HTTP/2"
	Protocol3 = "HTTP/3"
)

// Field is one header field; names are sent as they are.
type Field struct{ Name, Value string }

// Request is a request in its fields, pseudo fields included.
type Request struct {
	Fields  []Field
	Body    string
	Trailer []Field
	// EmptyData ends a stream without a body by an empty DATA frame.
	EmptyData bool
	// Grease sends a frame of an unknown type behind the fields, which a server has to ignore.
	Grease bool
	// Reset cancels the stream behind the body, in place of its end.
	Reset bool
	// Halfway, if set, is called when half of the body is sent. It returns whether the rest is
	// to follow; if not, the stream ends there.
	Halfway func() bool
}

// body sends the body by send, which is told whether a part is the last.
func (r *Request) body(send func(part string, last bool)) {
	if r.Halfway == nil {
		send(r.Body, true)
		return
	}
	half := len(r.Body) / 2
	send(r.Body[:half], false)
	if r.Halfway() {
		send(r.Body[half:], true)
	} else {
		send("", true)
	}
}

// Answer is the final answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// ErrReset is returned if the server ends stream or connection without an answer.
var ErrReset = errors.New("rawhttp: the server has reset the stream")

// Trusting is a TLS configuration for servers with certificates of their own: it
// checks none.
func Trusting(protocol string) *tls.Config {
	//nolint:gosec // a server of the test, with a certificate of its own
	return &tls.Config{InsecureSkipVerify: true, ServerName: "127.0.0.1", NextProtos: []string{protocol}}
}

// add takes a field of the answer; it ignores informational answers.
func (a *Answer) add(f Field) {
	if f.Name == ":status" {
		status, _ := strconv.Atoi(f.Value) // 0 is no answer
		*a = Answer{Status: status, Header: http.Header{}}
		return
	}
	if a.Header != nil {
		a.Header.Add(f.Name, f.Value)
	}
}

// final tells whether an answer has come that is not informational.
func (a *Answer) final() bool { return a.Status >= 200 }
