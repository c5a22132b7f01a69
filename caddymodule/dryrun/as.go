package dryrun

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// ParseAs reads "anonymous", "user", "role:NAME", "cap:NAME", "key" or "scope:NAME". Behind the scope of a user may
// stand what that user is: "scope:agent,role:editor". "" is anonymous, too, but says nothing of credentials that the
// request has by itself. Roles are those of the core and of the shop.
func ParseAs(text string) (As, error) {
	kind, name, named := strings.Cut(text, ":")
	switch {
	case kind == string(OfScope):
		return parseScope(name)
	case kind == "role" && named:
		if err := typo.Check(name, Roles()...); err != nil {
			return As{}, fmt.Errorf("role %w", err)
		}
		return As{Kind: Role, Name: name}, nil
	case kind == "cap" && name != "":
		return As{Kind: Capability, Name: name}, nil
	case kind == "cap", kind == "role":
		return As{}, errNoName(text, kind)
	case named:
		return As{}, errors.New(`only "role:", "cap:" and "scope:" take a name`)
	case text == "":
		return As{}, nil
	}
	if err := typo.Check(text, Callers()...); err != nil {
		return As{}, err
	}
	return As{Kind: AsKind(text)}, nil
}

// parseScope reads what stands behind "scope:".
func parseScope(text string) (As, error) {
	name, rights, more := strings.Cut(text, ",")
	if name == "" {
		return As{}, errNoName("scope:"+text, string(OfScope))
	}
	as := As{Kind: OfScope}
	if more {
		var err error
		if as, err = ParseAs(rights); err != nil {
			return As{}, err
		}
		if !as.loggedIn() || as.Scope != "" {
			return As{}, fmt.Errorf("scope:%s takes role:NAME or cap:NAME behind it", name)
		}
	}
	as.Scope = name
	return as, nil
}

func errNoName(text, kind string) error {
	return fmt.Errorf("%q needs a name, as %s:NAME", text, kind)
}

// Callers are the words that ParseAs reads; those with a colon need a name.
func Callers() []string {
	return []string{string(Anonymous), string(User), string(Key), "role:NAME", "cap:NAME", "scope:NAME"}
}

// Holder is a caller with the credential that a scope of the site gives to it, which has no kind without a scope.
type Holder struct {
	As
	Credential caller.Credential
}

// On returns the first of EachOn.
func (a As) On(site *policy.Site) (Holder, error) {
	all, err := a.EachOn(site)
	if err != nil {
		return Holder{}, err
	}
	return all[0], nil
}

// EachOn returns the caller as each kind of credentials that its scope has, and those of users alone where a role is said.
// The error says that the site has no such scope, or that it is of keys and the caller said to be a user.
func (a As) EachOn(site *policy.Site) (all []Holder, err error) {
	if a.Scope == "" {
		return []Holder{{As: a}}, nil
	}
	var declared []string
	if site.Scopes != nil {
		declared = site.Scopes.Names()
	}
	if !slices.Contains(declared, a.Scope) {
		return nil, fmt.Errorf("there is no scope %q at this site%s", a.Scope, policy.Prefixed(": ", typo.Hint(a.Scope, declared...)))
	}
	for _, has := range site.Scopes.Holders(a.Scope) {
		one := a
		if has.Kind == caller.CredentialKey {
			if a.Kind != OfScope {
				continue
			}
			one.Kind = Key
		}
		all = append(all, Holder{one, has})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the scope %s is of shop keys, which have no role", a.Scope)
	}
	return all, nil
}

// String returns the text that ParseAs reads.
func (a As) String() string {
	text := string(cmp.Or(a.Kind, Anonymous))
	switch a.Kind {
	case Role:
		text = "role:" + a.Name
	case Capability:
		text = "cap:" + a.Name
	case OfScope, Key:
		if a.Scope != "" {
			return "scope:" + a.Scope
		}
	case Anonymous, User:
	}
	if a.Scope != "" {
		return "scope:" + a.Scope + "," + text
	}
	return text
}

// Roles are the roles that the core and the shop come with, sorted.
func Roles() []string { return slices.Sorted(maps.Keys(roles)) }

func (a As) loggedIn() bool {
	return a.Kind == User || a.Kind == Role || a.Kind == Capability || a.Kind == OfScope
}

// roles are the roles that the platform gives for the caller.
func (a As) roles() []string {
	switch a.Kind {
	case User:
		return []string{"subscriber"}
	case Role:
		return strings.Split(a.Name, ",")
	case Anonymous, Capability, Key, OfScope:
	}
	return []string{}
}

// capabilities are what the platform lists for the caller; a role counts as one, too.
func (a As) capabilities() map[string]bool {
	found := map[string]bool{}
	for _, role := range a.roles() {
		found[role] = true
		for _, name := range roles[role] {
			found[name] = true
		}
	}
	if a.Kind == Capability {
		found[a.Name] = true
	}
	return found
}

// readsOrders tells whether the shop shows orders to the caller.
func (a As) readsOrders() bool {
	return a.Kind == Key || a.capabilities()["read_private_shop_orders"]
}
