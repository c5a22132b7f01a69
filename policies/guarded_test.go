package policies

import (
	"testing"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// guarded is the chain of a site with these lines of a Caddyfile.
func guarded(t *testing.T, s *policy.Site, options ...policy.Option) *policy.Chain {
	t.Helper()
	return policytest.Guarded(t, s, Catalog, options...)
}

// configured is a configuration that names one policy.
func configured(name string, p policy.Policy, settings ...policy.Settings) map[string]*policy.Configured {
	e, _ := Lookup(name)
	return map[string]*policy.Configured{name: {Entry: e, Policy: p, Settings: append(settings, policy.Settings{})[0]}}
}
