package policies

import (
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/index"
)

// Index returns the routes of the shop that a host leads to, or nil if they were not read.
// The host counts as sent.
func (s *Site) Index(host string) *index.Index {
	if s.Indexes == nil {
		return nil
	}
	x, _ := s.Indexes.Get(host)
	return x
}

// RouteName returns what the route of c is called for those who read logs: the site's own
// pattern, or "unknown" where its index has none that certainly fits. Where no index was
// read, it returns the namespace if that is a well-known one, else "unknown". It never
// returns what the client wrote.
func (s *Site) RouteName(host string, c *call.Call) string {
	if c.Kind == call.Refused || c.Route == "" {
		return index.Unknown
	}
	x := s.Index(host)
	if x == nil {
		return index.Known(c.Route)
	}
	if name, ok := x.Pattern(c.Route); ok {
		return name
	}
	return index.Unknown
}
