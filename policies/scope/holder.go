package scope

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/caller"
)

// Holders implements [policy.Scopes].
func (p *Scopes) Holders(name string) (all []caller.Credential) {
	s := p.named(name)
	if s == nil {
		return nil
	}
	if len(s.Keys) > 0 {
		all = append(all, caller.Credential{Kind: caller.CredentialKey, Key: p.keys.first(s.Keys, func(n int) string { return fmt.Sprintf("%07d", n) })})
	}
	if len(s.Passwords) > 0 {
		uuid := p.passwords.first(s.Passwords, anyUUID)
		all = append(all, caller.Credential{Kind: caller.CredentialPassword, Login: p.users.unnamed(anybody), UUID: strings.ToLower(uuid)})
	}
	if len(s.Users) > 0 {
		login := p.users.first(s.Users, anybody)
		all = append(all, caller.Credential{Kind: caller.CredentialUser, Login: login})
		if p.passwords.any && len(s.Passwords) == 0 { // those of the user have their scope beside this one
			all = append(all, caller.Credential{Kind: caller.CredentialPassword, Login: login, UUID: p.passwords.unnamed(anyUUID)})
		}
	}
	return all
}

func anyUUID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// Terms implements [policy.Scopes].
func (p *Scopes) Terms(name string) (end time.Time, observes bool) {
	s := p.named(name)
	if s == nil {
		return end, false
	}
	return s.end, s.observes()
}

// named returns the scope of a name, or nil.
func (p *Scopes) named(name string) *Scope {
	if i := slices.IndexFunc(p.Scopes, func(s *Scope) bool { return s.Name == name }); i >= 0 {
		return p.Scopes[i]
	}
	return nil
}

func anybody(n int) string { return fmt.Sprintf("somebody%d", n) }

// first returns the first of names, or for "*" one that no scope names.
func (m *members) first(names []string, nth func(int) string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return name != every }); i >= 0 {
		return names[i]
	}
	return m.unnamed(nth)
}

// unnamed returns a name that no scope has.
func (m *members) unnamed(nth func(int) string) string {
	n := 0
	for ; m.named[nth(n)] != nil; n++ {
	}
	return nth(n)
}

// held returns the scopes that bind a credential of which everything is known. One without a name is none that a scope
// names.
func (p *Scopes) held(c caller.Credential) []*Scope {
	switch c.Kind {
	case caller.CredentialKey:
		return p.keys.of(c.Key)
	case caller.CredentialPassword:
		return slices.Concat(p.users.of(strings.ToLower(c.Login)), p.passwords.of(c.UUID))
	case caller.CredentialUser:
		return p.users.of(strings.ToLower(c.Login))
	}
	return nil
}
