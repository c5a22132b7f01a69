//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// request is an honest client's request.
type request struct {
	method  string // GET unless set
	path    string // below the site's base, with query
	body    string
	headers []string // "Name: value"
	as      *account // by application password
	client  *http.Client
}

// answer is what came back.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	code     string // of an error object
	decision string // kind, outcome and code of the gateway
}

func (a *answer) String() string {
	return fmt.Sprintf("%d %s, gateway: %q, %.300s", a.status, a.code, a.decision, a.body)
}

// refused tells whether the answer is the gateway's own.
func (a *answer) refused() bool { return strings.Contains(a.decision, " refused") }

// httpClient follows no redirects: they are answers, too.
var httpClient = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fetch sends a request through a gate.
func fetch(ctx context.Context, g *gate, r request) (*answer, error) {
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, g.url(r.path), strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	for _, h := range r.headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	if strings.HasPrefix(r.body, "{") && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.as != nil {
		req.SetBasicAuth(r.as.Login, r.as.Application)
	}
	client := r.client
	if client == nil {
		client = httpClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return newAnswer(resp, body), nil
}

func newAnswer(resp *http.Response, body []byte) *answer {
	a := &answer{
		status: resp.StatusCode, header: resp.Header, body: body,
		decision: strings.TrimSpace(resp.Header.Get("X-Check-Decision")),
	}
	var object struct {
		Code any `json:"code"`
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) && json.Unmarshal(body, &object) == nil {
		a.code, _ = object.Code.(string)
	}
	return a
}
