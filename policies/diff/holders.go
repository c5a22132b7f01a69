package diff

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Rights are what a user has beside a login: nothing, a role or a capability.
type Rights struct {
	Name   string // "", "role:editor" or "cap:read"
	Caller caller.Caller
}

// Holders returns everybody whom two chains may tell apart: anonymous callers, users, those with each of some rights, who
// sign, shop keys, and who has a credential that a scope of either side names. Credentials that the same scopes have are one
// holder. The first of them is anonymous.
func Holders(before, after *policy.Chain, rights []Rights) []Holder {
	all := []Holder{{Name: "anonymous"}}
	for _, name := range names(before, after, func(s *policy.Site) []string { return s.Signatures }) {
		all = append(all, Holder{"signed:" + name, review.Holder{Signature: name}})
	}
	c := classes{before: before.Site().Scopes, after: after.Site().Scopes, seen: map[string]bool{}}
	for _, credential := range c.credentials() {
		name, first := c.name(&credential)
		switch {
		case !first:
		case credential.Kind == caller.CredentialKey:
			all = append(all, Holder{name, review.Holder{Caller: caller.Caller{Kind: caller.KeyHolder}, Credential: credential}})
		default:
			for _, r := range rights {
				all = append(all, Holder{withRights(name, r.Name), review.Holder{Caller: r.Caller, Credential: credential}})
			}
		}
	}
	return all
}

// withRights names a holder with rights, as `--as` does: "role:editor", "scope:agent,role:editor".
func withRights(name, rights string) string {
	switch {
	case rights == "":
		return name
	case name == "user":
		return rights
	}
	return name + "," + rights
}

// names returns the names that sites have, each once, in order.
func names(before, after *policy.Chain, of func(*policy.Site) []string) []string {
	all := slices.Sorted(slices.Values(slices.Concat(of(before.Site()), of(after.Site()))))
	return slices.Compact(all)
}

// classes are credentials by the scopes that they have on both sides.
type classes struct {
	before, after policy.Scopes // nil for none
	named         policy.NamedCredentials
	seen          map[string]bool
}

// credentials returns those that either side names, and first one of each kind that none does.
func (c *classes) credentials() (all []caller.Credential) {
	c.named = union(c.before, c.after)
	n := &c.named
	for _, key := range append([]string{another(n.Keys, "%07d")}, n.Keys...) {
		all = append(all, caller.Credential{Kind: caller.CredentialKey, Key: key})
	}
	users := append([]string{another(n.Users, "somebody%d")}, n.Users...)
	for _, login := range users {
		all = append(all, caller.Credential{Kind: caller.CredentialUser, Login: login})
	}
	if !n.AnyPassword {
		return all
	}
	for _, login := range users {
		for _, uuid := range append([]string{another(n.Passwords, "00000000-0000-4000-8000-%012d")}, n.Passwords...) {
			all = append(all, caller.Credential{Kind: caller.CredentialPassword, Login: login, UUID: uuid})
		}
	}
	return all
}

func union(sides ...policy.Scopes) (n policy.NamedCredentials) {
	for _, s := range sides {
		if s == nil {
			continue
		}
		own := s.Named()
		n.Keys, n.Passwords, n.Users = append(n.Keys, own.Keys...), append(n.Passwords, own.Passwords...), append(n.Users, own.Users...)
		n.AnyPassword = n.AnyPassword || own.AnyPassword
	}
	for _, list := range [...]*[]string{&n.Keys, &n.Passwords, &n.Users} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return n
}

// another returns a name that is none of a list.
func another(list []string, format string) string {
	for n := 0; ; n++ {
		if name := fmt.Sprintf(format, n); !slices.Contains(list, name) {
			return name
		}
	}
}

// name returns what a credential is called, and whether it is the first of its kind with its scopes: "key" or "user" without
// a scope, "scope:erp" with one, and its own name where it has several scopes or others before and after. One that no scope names
// is called as its kind.
func (c *classes) name(one *caller.Credential) (name string, first bool) {
	before, after := scopesOf(c.before, one), scopesOf(c.after, one)
	class := fmt.Sprintf("%s %q %q", one.Kind, before, after)
	if c.seen[class] {
		return "", false
	}
	c.seen[class] = true
	if len(before) == 1 && slices.Equal(before, after) {
		name = "scope:" + before[0]
		if len(c.before.Holders(before[0]))+len(c.after.Holders(before[0])) > 2 { // of several kinds
			name += " by " + string(one.Kind)
		}
		return name, true
	}
	own := map[caller.CredentialKind]string{caller.CredentialKey: one.Key, caller.CredentialUser: one.Login, caller.CredentialPassword: one.UUID}[one.Kind]
	n := &c.named
	if name = string(one.Kind); slices.Contains(slices.Concat(n.Keys, n.Users, n.Passwords), own) {
		name += ":" + own
	}
	if one.Kind == caller.CredentialPassword && slices.Contains(n.Users, one.Login) {
		name += " of " + one.Login
	}
	return name, len(before)+len(after) > 0 || one.Kind != caller.CredentialPassword // which is as a user's
}

func scopesOf(s policy.Scopes, one *caller.Credential) []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(slices.Values(s.NamesOf(*one)))
}
