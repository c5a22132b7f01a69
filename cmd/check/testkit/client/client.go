// Package client sends ordinary requests to a server under test, written as "METHOD
// target", and reads the answers. Package rawhttp sends requests that a library would
// repair.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// New returns a client that follows no redirects, asks for no compression and
// gives up after a while. It serves many requests at once.
func New() *http.Client {
	return &http.Client{
		Timeout:       20 * time.Second,
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// The content types of bodies in tests.
const (
	Form = "application/x-www-form-urlencoded"
	JSON = "application/json"
)

// Edit changes a request before it is sent.
type Edit func(*http.Request)

// Header sets a header.
func Header(name, value string) Edit {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Lines adds header lines, "Name: value". Host sets the host of the request.
func Lines(lines ...string) Edit {
	return func(r *http.Request) {
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			if name == "Host" {
				r.Host = value
				continue
			}
			r.Header.Add(name, value)
		}
	}
}

// Login sends a pair "name:secret": a user and an application password, or a shop key
// "ck_…:cs_…".
func Login(pair string) Edit {
	name, secret, _ := strings.Cut(pair, ":")
	return func(r *http.Request) { r.SetBasicAuth(name, secret) }
}

// Typed returns the content type that a body looks like: JSON, otherwise a form; ""
// without a body.
func Typed(body string) Edit {
	return func(r *http.Request) {
		switch {
		case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
			r.Header.Set("Content-Type", JSON)
		case body != "":
			r.Header.Set("Content-Type", Form)
		}
	}
}

// Multipart returns a form of name-value pairs as multipart, and its content type.
func Multipart(pairs ...string) (body, contentType string) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	_ = m.SetBoundary("b") // it is a good one, and a Buffer takes everything
	for i := 0; i < len(pairs); i += 2 {
		_ = m.WriteField(pairs[i], pairs[i+1])
	}
	_ = m.Close()
	return b.String(), m.FormDataContentType()
}

// Request makes a request of "METHOD target" to base, "http://host:port". With body "" it
// has none, not an empty one.
func Request(ctx context.Context, base, line, body string, edits ...Edit) (*http.Request, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	return RequestFrom(ctx, base, line, r, edits...)
}

// RequestFrom is Request for a body that is read while it is sent.
func RequestFrom(ctx context.Context, base, line string, body io.Reader, edits ...Edit) (*http.Request, error) {
	method, target, _ := strings.Cut(line, " ")
	req, err := http.NewRequestWithContext(ctx, method, base+target, body)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		e(req)
	}
	return req, nil
}

// Reply is the answer to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request and reads the whole answer.
func Do(c *http.Client, req *http.Request) (Reply, error) {
	res, err := c.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return Reply{res.StatusCode, res.Header, string(b)}, err
}

// At returns the value at a path of names and indices of a body in JSON, or nil.
func At(body string, path ...string) any {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	return In(v, path...)
}

// In is At for a decoded value.
func In(v any, path ...string) any {
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}
