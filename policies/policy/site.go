package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
)

// Site is what one directive guards: the hosts that the configuration names, and the
// base. Everything that is counted, limited or kept belongs to a site.
type Site struct {
	*caller.Site
	// Name is the first host and the base, "shop.example.com/blog"; "*:8080" names the
	// site of a directive for all hosts. It is the same on all gateways that guard the
	// site, wherever the directive stands. Clients do not choose it.
	Name string
	// Server identifies the server that listens for the site, by its addresses.
	Server string
	// Apart tells the ways to one site apart that a configuration has; "" where there is one
	// alone. Unlike Server it is the same on gateways that listen on other addresses.
	Apart   string
	Base    string   // "" or "/blog"
	Hosts   []string // as the configuration names them, "*.example.com"; none for all hosts
	Release *Release // of the shop
	// Switches are what the owner has switched on; nil if nothing can be switched.
	Switches *Switches
	// Foresee returns what a policy will ask about the record of a call, see [caller.Foreseer]. It is
	// nil where no policy asks.
	Foresee func(context.Context, *Request) *caller.Ahead

	// Routes returns the routes of the shop that answers for a host as it was sent, or those of all others where own is not
	// known. It is nil where nobody learns them.
	Routes func(host string) (own *index.Index, others []*index.Index)

	// Signatures are the names of the declared signatures, which rules may name.
	Signatures []string

	// Scopes tells of the scopes of credentials; nil where there are none.
	Scopes Scopes

	namesScopes bool               // a rule does
	observed    func(InForce) bool // tells whether the policy of Scopes only observes
	dots        dots               // of the chain
	worded      []routes.Pattern   // of the chain, see Chain.worded
	kept        [maxSiteSlots]any  // see SiteSlot
}

// Scopes is a Policy that gives credentials scopes, which rules may name.
type Scopes interface {
	// Names returns the names of the scopes.
	Names() []string
	// Verified returns the scopes of the credential that the platform has accepted of r, whose caller is known. A scope
	// that observes, or has ended, grants nothing. The error is as that of Checker.Check.
	Verified(ctx context.Context, r *Request) ([]string, error)
	// MayHold is Verified for what takes away: where the platform may accept one of several credentials, or one that
	// nobody can ask about, it has the scopes of all that r carries.
	MayHold(ctx context.Context, r *Request) ([]string, error)
	// Of returns the names of the scopes of a credential that r carries, and its uuid, as far as they are known.
	Of(r *Request, c caller.Credential) (names []string, uuid string)
	// Holders returns a credential of each kind that a scope has: the first key that it names, the first password, of a user
	// whom no scope names, and the first user, by a cookie. "*" stands for one that no scope names. There is none for a name
	// that is no scope's.
	Holders(name string) []caller.Credential
	// Granted returns the names of the scopes that rules take the holder of a verified credential for, as Verified does. A
	// credential without a name is one that no scope names.
	Granted(c caller.Credential) []string
	// NamesOf returns the names of the scopes of a credential, as far as its own names are known.
	NamesOf(c caller.Credential) []string
	// Named returns the ends of keys, the uuids and the logins that scopes name, and whether they name any of a kind, "*" as well.
	Named() NamedCredentials
	// Terms returns the first moment after the last day of a scope, zero where it has none, and whether it only observes.
	Terms(name string) (end time.Time, observes bool)
}

// NamedCredentials are the credentials that scopes name, each once, and in small letters but for keys.
type NamedCredentials struct {
	Keys, Passwords, Users       []string
	AnyKey, AnyPassword, AnyUser bool
}

// Shop identifies in a Store's key the shop that answers r: site and server, since a
// client may send any Host, then the host as sent, the form, then the base, also that of the
// client's own path. Another spelling of the host may be another shop, and so may "/blog" of
// the query form beside "/blog/wp-json"; to tell them apart costs no more than a question.
// Behind a trusted proxy a platform of several shops may go by X-Forwarded-Host, and questions
// carry it.
func (s *Site) Shop(r *Request) string { return s.ShopApart(r, s.Server) }

// ShopApart is Shop for facts that hold on all gateways: apart stands for the server.
func (s *Site) ShopApart(r *Request, apart string) string { return string(s.AppendShop(nil, r, apart)) }

// AppendShop appends what ShopApart returns to b.
func (s *Site) AppendShop(b []byte, r *Request, apart string) []byte {
	c := r.Whole.Call
	parts := [...]string{s.Name, apart, r.HTTP.Host, strings.Join(r.HTTP.Header["X-Forwarded-Host"], ","), c.FormName(), c.Base, "", ""}
	n := 6
	if c.Rewritten != nil {
		parts[6], parts[7] = c.Rewritten.Client, c.Rewritten.Script
		n = len(parts)
	}
	var room [256]byte
	text := room[:0]
	for _, part := range parts[:n] {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.AppendEncode(b, sum[:16])
}

// Code returns c as this site sends it. The shop's codes get the platform's prefix.
func (s *Site) Code(c Code) Code {
	switch c {
	case CodeInvalidID, CodeTotalMismatch, CodeComputeTotals,
		ask.CodeCannotBatch, ask.CodeCannotCreate, ask.CodeCannotDelete, ask.CodeCannotEdit:
		return Code(s.Platform.ErrorPrefix) + c
	default:
		return c
	}
}
