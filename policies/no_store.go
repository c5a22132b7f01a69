package policies

import (
	"context"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// NoStore keeps private answers out of caches: whatever answers a call that
// carries credentials says no-store. Refusals always do.
type NoStore struct{ Common }

// Configure takes what all policies take.
func (p *NoStore) Configure(o Option) error { return p.onlyCommon(o) }

// Provision has nothing to prepare.
func (p *NoStore) Provision(*Site) error { return nil }

// Check has no objection to anything.
func (p *NoStore) Check(context.Context, *Request) (Verdict, error) { return Verdict{}, nil }

// Rewrites asks for the header of answers to calls with credentials.
func (p *NoStore) Rewrites(r *Request) Rewrite {
	if r.Call.Kind == call.Page || !r.Site.HasCredentials(r.HTTP) {
		return RewriteNothing
	}
	return RewriteHeader
}

// Rewrite adds no-store where the platform has not said it.
func (p *NoStore) Rewrite(_ *Request, a *Answer) error {
	if !strings.Contains(strings.Join(a.Header["Cache-Control"], ","), "no-store") {
		a.Header.Set("Cache-Control", "no-store")
	}
	return nil
}
