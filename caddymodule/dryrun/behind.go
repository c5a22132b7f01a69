package dryrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
)

// ErrNothingBehind is the error of RoundTrip that tells that a configuration does not say where a site is.
var ErrNothingBehind = errors.New("the configuration has nothing there that a dry run can ask")

// Behind returns what puts requests that read to a real site, through the handlers of the configuration and past its directives, as the
// questions of a gateway go. Requests to other sites fail; an answer is bounded as that of each dry run. It needs Options.Behind. Several
// goroutines may use it at a time.
func (c *Config) Behind(site *gateway.ServedSite) http.RoundTripper { return behind{c, site} }

type behind struct {
	*Config
	site *gateway.ServedSite
}

// RoundTrip implements http.RoundTripper.
func (c behind) RoundTrip(r *http.Request) (*http.Response, error) {
	if !c.asksSites || !reads(r.Method) || r.Body != nil && r.Body != http.NoBody {
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
	run := &run{asks: c.site}
	res, err := serve(r.Context(), run, server, request, request.Raw)
	switch {
	case err != nil:
		return nil, err
	case run.failed != nil:
		return nil, run.failed
	case res == nil || !run.reached:
		return nil, ErrNothingBehind
	}
	res.Request = r
	return res, nil
}

// past marks the request of RoundTrip as a question, which no directive judges.
func (r *run) past(req *http.Request) *http.Request {
	if r.asks == nil {
		return req
	}
	req = req.WithContext(context.WithValue(req.Context(), questionKey, &ask.Question{Kind: ask.KindIndex, As: ask.AsNobody}))
	caddyhttp.SetVar(req.Context(), questions.Var, true)
	return req
}

// send sends a request to the real site. One of Behind comes no further than to its own, since a site may redirect it to another one.
func (r *run) send(to http.RoundTripper, req *http.Request) (*http.Response, error) {
	if r.asks == nil {
		return to.RoundTrip(req)
	}
	r.mu.Lock()
	passed := r.passed
	r.reached = true
	r.mu.Unlock()
	if !passed {
		return nil, r.fail(fmt.Errorf("%s is another site", req.Host))
	}
	res, err := to.RoundTrip(req)
	if err != nil {
		return nil, r.fail(fmt.Errorf("its backend: %w", err))
	}
	return res, nil
}

func (r *run) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
	return err
}
