package dryrun

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/typo"
)

// ParseAs reads "anonymous", "user", "role:NAME", "cap:NAME" or "key". "" is anonymous, too,
// but says nothing of credentials that the request has by itself.
// Roles are those of the core and of the shop.
func ParseAs(text string) (As, error) {
	kind, name, named := strings.Cut(text, ":")
	switch {
	case kind == "role" && named:
		if err := typo.Check(name, Roles()...); err != nil {
			return As{}, fmt.Errorf("role %w", err)
		}
		return As{Role, name}, nil
	case kind == "cap" && name != "":
		return As{Capability, name}, nil
	case kind == "cap", kind == "role":
		return As{}, fmt.Errorf("%q needs a name, as %s:NAME", text, kind)
	case named:
		return As{}, errors.New(`only "role:" and "cap:" take a name`)
	case text == "":
		return As{}, nil
	}
	if err := typo.Check(text, Callers()...); err != nil {
		return As{}, err
	}
	return As{Kind: AsKind(text)}, nil
}

// Callers are the words that ParseAs reads; "role:" and "cap:" need a name.
func Callers() []string {
	return []string{string(Anonymous), string(User), string(Key), "role:NAME", "cap:NAME"}
}

// String returns the text that ParseAs reads.
func (a As) String() string {
	switch a.Kind {
	case "":
		return string(Anonymous)
	case Role:
		return "role:" + a.Name
	case Capability:
		return "cap:" + a.Name
	case Anonymous, User, Key:
	}
	return string(a.Kind)
}

// Roles are the roles that the core and the shop come with, sorted.
func Roles() []string { return slices.Sorted(maps.Keys(roles)) }

func (a As) loggedIn() bool { return a.Kind == User || a.Kind == Role || a.Kind == Capability }

// roles are the roles that the platform gives for the caller.
func (a As) roles() []string {
	switch a.Kind {
	case User:
		return []string{"subscriber"}
	case Role:
		return strings.Split(a.Name, ",")
	case Anonymous, Capability, Key:
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
