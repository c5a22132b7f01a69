package scope

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Declare tells the site which scopes rules may name.
func (p *Scopes) Declare(site *policy.Site) error {
	site.Scopes = p
	return nil
}

// Names implements [policy.Scopes].
func (p *Scopes) Names() (names []string) {
	for _, s := range p.Scopes {
		names = append(names, s.Name)
	}
	return names
}

// Named implements [policy.Scopes].
func (p *Scopes) Named() policy.NamedCredentials {
	sorted := func(m *members) []string { return slices.Sorted(maps.Keys(m.named)) }
	return policy.NamedCredentials{
		Keys: sorted(&p.keys), Passwords: sorted(&p.passwords), Users: sorted(&p.users),
		AnyKey: p.keys.any, AnyPassword: p.passwords.any, AnyUser: p.users.any,
	}
}

// Verified implements [policy.Scopes].
func (p *Scopes) Verified(ctx context.Context, r *policy.Request) (names []string, err error) {
	scopes, err := p.verified(ctx, r)
	return p.granting(scopes), err
}

// MayHold implements [policy.Scopes].
func (p *Scopes) MayHold(ctx context.Context, r *policy.Request) (names []string, err error) {
	b := p.bound(ctx, r)
	if b.err != nil {
		return nil, b.err
	}
	if _, doubtful, err := p.accepted(ctx, r); !doubtful || err != nil {
		return nil, err
	}
	return p.granting(b.scopes), nil
}

// Granted implements [policy.Scopes].
func (p *Scopes) Granted(c caller.Credential) []string { return p.granting(p.held(c)) }

// granting returns the names of those of scopes that grant anything.
func (p *Scopes) granting(scopes []*Scope) []string {
	now := p.now()
	return namesOf(scopes, func(s *Scope) bool { return !s.observes() && !s.ended(now) })
}

// verified returns the scopes of the credential that the platform has accepted, once it is known who is calling. Of two
// that a request carries nobody knows which one that is.
func (p *Scopes) verified(ctx context.Context, r *policy.Request) ([]*Scope, error) {
	c, ok := r.Verified()
	if presented, err := r.Presented(); !ok || err != nil || len(presented) > 1 || len(presented) == 1 && r.SaysUser() {
		return nil, err
	}
	if c.Kind == caller.CredentialPassword && p.passwords.any {
		var err error
		if c.UUID, err = r.Password(ctx); err != nil {
			return nil, err
		}
	}
	return p.of(c), nil
}

// Of implements [policy.Scopes].
func (p *Scopes) Of(r *policy.Request, c caller.Credential) (names []string, uuid string) {
	if b := bindings.Get(r); b != nil && c.Kind == caller.CredentialPassword {
		c.UUID = b.uuid
	}
	return p.NamesOf(c), c.UUID
}

// NamesOf implements [policy.Scopes].
func (p *Scopes) NamesOf(c caller.Credential) []string {
	c.UUID = strings.ToLower(c.UUID)
	return namesOf(p.of(c), func(*Scope) bool { return true })
}

// of returns the scopes of one credential, as far as its names are known.
func (p *Scopes) of(c caller.Credential) (scopes []*Scope) {
	if c.Kind == caller.CredentialKey {
		return p.keys.of(c.Key)
	}
	if c.Login != "" {
		scopes = p.users.of(strings.ToLower(c.Login))
	}
	if c.UUID != "" {
		scopes = slices.Concat(scopes, p.passwords.of(c.UUID))
	}
	return scopes
}

// namesOf returns the names of those scopes that count, each once.
func namesOf(scopes []*Scope, counts func(*Scope) bool) (names []string) {
	for _, s := range scopes {
		if counts(s) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
