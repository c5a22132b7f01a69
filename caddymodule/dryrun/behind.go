package dryrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
)

// maxBehind bounds an answer of a real site to RoundTrip, in bytes.
const maxBehind = 64<<20 + 1

// ErrNothingBehind is the error of RoundTrip that tells that a configuration does not say where a site is.
var ErrNothingBehind = errors.New("the configuration has nothing there that a dry run can ask")

// RoundTrip implements http.RoundTripper: it puts a request that reads to the real site, through the handlers of the configuration and past
// its directives, as the questions of a gateway go. It needs Options.Behind. Several goroutines may use it at a time.
func (c *Config) RoundTrip(r *http.Request) (*http.Response, error) {
	if !c.behind || !reads(r.Method) || r.Body != nil && r.Body != http.NoBody {
		return nil, fmt.Errorf("a dry run sends no such request: %s", r.Method)
	}
	var lines []string
	if r.Host != "" {
		lines = append(lines, "Host: "+r.Host)
	}
	for name, values := range r.Header {
		for _, value := range values {
			lines = append(lines, name+": "+value)
		}
	}
	request, err := Build(r.Method, r.URL.String(), lines, nil)
	if err != nil {
		return nil, err
	}
	host, _, err := target(request.Raw)
	if err != nil {
		return nil, err
	}
	server, direct := c.serverFor(request, host)
	if server == nil {
		return nil, ErrNothingBehind
	}
	request.Secure = request.Secure && (direct || len(server.TLSConnPolicies) > 0)
	run := &run{asks: true}
	res, err := serve(r.Context(), run, server, request, request.Raw)
	switch {
	case err != nil:
		return nil, err
	case res == nil || !run.reached:
		return nil, ErrNothingBehind
	}
	res.Request = r
	return res, nil
}

// past marks the request of RoundTrip as a question, which no directive judges.
func (r *run) past(req *http.Request) *http.Request {
	if !r.asks {
		return req
	}
	req = req.WithContext(context.WithValue(req.Context(), questionKey, &ask.Question{Kind: ask.KindIndex, As: ask.AsNobody}))
	caddyhttp.SetVar(req.Context(), questions.Var, true)
	return req
}

// bounded notes that the real site has answered, and bounds the answer to RoundTrip.
func (r *run) bounded(res *http.Response, err error) (*http.Response, error) {
	if !r.asks {
		return res, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = true
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxBehind), res.Body}
	}
	return res, err
}
