package dryrun

import (
	"net/http"
	"net/url"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/discover"
)

// readingOf describes a reading. It asks for the id, which may read the body; the gateway
// does so, too.
func readingOf(req *http.Request, original *url.URL, s *gateway.ServedSite, c *call.Call) *Reading {
	r := &Reading{Kind: c.Kind.String()}
	for _, source := range s.Reader.Sources(c, req, original) {
		r.Sources = append(r.Sources, Source(source))
	}
	if c.Kind == call.Page {
		return r
	}
	if c.Refusal != nil {
		r.Reason = c.Refusal.Reason
	}
	r.Route, r.Method = c.Route, c.Method
	if c.Kind == call.Refused {
		return r
	}
	r.Form = c.FormName()
	if x := discover.Of(s.Policies).Index(req.Host); x != nil {
		r.Pattern, _ = x.Pattern(c.Route)
	}
	if c.Kind == call.Single {
		if id, ok, err := c.ObjectID(); ok && err == nil {
			r.ID = id
		}
	}
	return r
}

func partsOf(c *call.Call) (parts []Part) {
	for _, p := range c.Parts {
		part := Part{Method: p.Method, Route: p.Route}
		if id, ok, err := p.ObjectID(); ok && err == nil {
			part.ID = id
		}
		parts = append(parts, part)
	}
	return parts
}
