package policies

import (
	"testing"
)

// guarded is the chain of a site with these lines of a Caddyfile.
func guarded(t *testing.T, s *Site, options ...Option) *Chain {
	t.Helper()
	return guardedBy(t, s, Catalog, options...)
}

// configured is a configuration that names one policy.
func configured(name string, p Policy, settings ...Settings) map[string]*Configured {
	e, _ := Lookup(name)
	return map[string]*Configured{name: {Entry: e, Policy: p, Settings: append(settings, Settings{})[0]}}
}

const overrideHeader = "X-HTTP-Method-Override: "

func rateLimited(tb testing.TB, s *Site, text string) *RateLimits {
	p := new(RateLimits)
	configure(tb, p, line(text))
	return provision(tb, s, p)
}
