package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/typo"
)

// Who says whom a rule admits.
type Who uint8

// Whom rules admit.
const (
	Nobody Who = iota
	Anyone
	Users
	ByRole
	ByCapability
	BySignature
	ByScope
)

// whoNames are the keys of whoWords, in the order of messages.
var whoNames = []string{"anyone", "users", "role", "capability", "signed", "scope"}

var whoWords = map[string]Who{
	"anyone": Anyone, "users": Users,
	"role": ByRole, "capability": ByCapability, "signed": BySignature, "scope": ByScope,
}

// CompileWho checks whom the rule admits, without its methods and routes.
func (r *Rule) CompileWho() error {
	if r.Deny {
		return nil
	}
	word, rest, _ := strings.Cut(r.Allow, " ")
	r.who = whoWords[word]
	switch {
	case r.who == Nobody:
		return typo.Check(word, whoNames...)
	case r.who >= ByRole && rest == "":
		return fmt.Errorf("%s needs a name", word)
	case r.who < ByRole && rest != "":
		return fmt.Errorf("%s takes no name", word)
	}
	if rest != "" {
		r.names = strings.Split(rest, ",")
		if slices.Contains(r.names, "") || r.who == ByCapability && len(r.names) > 1 {
			return fmt.Errorf("%q is not a list of names", rest)
		}
	}
	return nil
}

// Roles returns the roles that the rule names.
func (r *Rule) Roles() []string { return r.namesOf(ByRole) }

// SignedBy returns the names of the signatures of which the rule asks for one.
func (r *Rule) SignedBy() []string { return r.namesOf(BySignature) }

func (r *Rule) namesOf(kind Who) []string {
	if r.who != kind {
		return nil
	}
	return r.names
}

// CheckNames holds the signatures and the scopes that the rule names against those that site declares. From then on the
// scopes of callers are found out.
func (r *Rule) CheckNames(site *Site) error {
	var declared []string
	switch r.who {
	case BySignature:
		declared = site.Signatures
	case ByScope:
		if site.namesScopes = true; site.Scopes != nil {
			declared = site.Scopes.Names()
		}
	default:
		return nil
	}
	for _, name := range r.names {
		if !slices.Contains(declared, name) {
			return fmt.Errorf("there is no %s %q%s", declaredWords[r.who], name, Prefixed(": ", typo.Hint(name, declared...)))
		}
	}
	return nil
}

var declaredWords = map[Who]string{BySignature: "signature", ByScope: "scope"}

// AdmitsRights tells whether the rule admits the caller of r, about whom [caller.Whole.Who] has said who. It asks for
// the rights of callers of whom that does not tell them.
func (r *Rule) AdmitsRights(ctx context.Context, req *Request, who caller.Caller) (bool, error) {
	if r.Admits(who) {
		return true, nil
	}
	if r.who == ByRole || r.who == ByCapability {
		var err error
		if who, err = req.Rights(ctx); err != nil {
			return false, err
		}
	}
	if r.Admits(who) {
		return true, nil
	}
	return false, r.untold(who)
}

// untold returns the error of a rule that needs what the platform has not told of the caller.
func (r *Rule) untold(c caller.Caller) error {
	switch {
	case r.who == ByRole && c.NoRoles:
		return caller.Untold("roles")
	case r.who == ByCapability && c.NoCapabilities:
		return caller.Untold("capabilities")
	}
	return nil
}

// Admits tells whether the rule admits the caller.
func (r *Rule) Admits(c caller.Caller) bool {
	switch r.who {
	case Users:
		return c.Kind != caller.Anonymous
	case ByRole:
		return c.Kind == caller.User && c.HasRole(r.names)
	case ByCapability:
		return c.Kind == caller.User && c.Can(r.names[0])
	case ByScope:
		return slices.ContainsFunc(c.Scopes, func(name string) bool { return slices.Contains(r.names, name) })
	default:
		return false
	}
}

// WhoOf returns whom a word of a line admits: "users", "role". It is Nobody for any other word.
func WhoOf(word string) Who { return whoWords[word] }

// Who returns whom the rule admits; Nobody for one that denies.
func (r *Rule) Who() Who { return r.who }

// Names returns the names of roles, signatures or scopes, or the capability, that the rule admits.
func (r *Rule) Names() []string { return r.names }
