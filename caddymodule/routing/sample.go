package routing

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// truth is what is known of a statement.
type truth int

const (
	maybe truth = iota
	yes
	no
)

// sample is a REST call as a client without credentials may write it, from an address that
// no matcher names.
type sample struct {
	what    string // as messages name it
	request *http.Request
}

func newSample(method, target string) *sample {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil
	}
	r := &http.Request{Method: method, URL: u, Header: http.Header{}, RequestURI: target}
	ctx := context.WithValue(context.Background(), caddy.ReplacerCtxKey, caddy.NewReplacer())
	ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{})
	return &sample{what: method + " " + target, request: r.WithContext(ctx)}
}

// of tells whether a holds for a request like s.
func (a atom) of(s *sample) truth {
	if s == nil {
		return maybe
	}
	if a.kind == noFile {
		return yes
	}
	if a.path != 0 && a.uses&path != 0 || a.other != 0 && a.uses&other != 0 {
		return maybe // a handler may have changed what the matcher looks at
	}
	return a.matcher.of(s)
}

func (m *matcher) of(s *sample) truth {
	if m == unknown {
		return maybe // it is not the survey's own
	}
	if t, ok := m.known[s]; ok {
		return t
	}
	t := m.evaluate(s)
	if m.known == nil {
		m.known = map[*sample]truth{}
	}
	m.known[s] = t
	return t
}

func (m *matcher) evaluate(s *sample) truth {
	if m.kind == "not" {
		return m.not(s)
	}
	if hasPlaceholder(m.raw) && m.kind != "path_regexp" {
		return maybe
	}
	switch m.kind {
	case "remote_ip", "client_ip":
		return m.anywhere()
	case "path":
		return run(new(caddyhttp.MatchPath), m.raw, s)
	case "path_regexp":
		return run(new(caddyhttp.MatchPathRE), m.raw, s)
	case "method":
		return run(new(caddyhttp.MatchMethod), m.raw, s)
	case "query":
		return run(new(caddyhttp.MatchQuery), m.raw, s)
	}
	return maybe
}

// not negates: none of the inner sets holds.
func (m *matcher) not(s *sample) truth {
	all := yes
	for _, set := range m.inner {
		holds := yes
		for _, inner := range set {
			switch inner.of(s) {
			case no:
				holds = no
			case maybe:
				if holds == yes {
					holds = maybe
				}
			case yes:
			}
		}
		switch holds {
		case yes:
			return no
		case maybe:
			all = maybe
		case no:
		}
	}
	return all
}

// anywhere tells whether the ranges of an address matcher take in all addresses.
func (m *matcher) anywhere() truth {
	var ranges struct {
		Ranges []string `json:"ranges"`
	}
	_ = jsonv1.Unmarshal(m.raw, &ranges)
	if slices.ContainsFunc(ranges.Ranges, func(r string) bool { return strings.HasSuffix(r, "/0") }) {
		return yes
	}
	return no
}

// run asks Caddy's own matcher.
func run(matcher caddyhttp.RequestMatcherWithError, raw json.RawMessage, s *sample) truth {
	if jsonv1.Unmarshal(raw, matcher) != nil {
		return maybe
	}
	if p, ok := matcher.(caddy.Provisioner); ok && p.Provision(caddy.Context{}) != nil {
		return maybe
	}
	matches, err := matcher.MatchWithError(s.request)
	switch {
	case err != nil:
		return maybe
	case matches:
		return yes
	}
	return no
}
