package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/restwarden/restwarden/policies/caller"
)

// Site is what all policies of one directive share.
type Site struct {
	*caller.Site
	Base    string   // "" or "/blog"
	Release *Release // of the shop

	// Directive names the directive, the same on all gateways with one
	// configuration; Server names what listens for it. Clients choose neither.
	Directive, Server string

	signatures []*Signature // that rules may name
}

// signature returns the signature that the policy of that name has declared, or nil.
func (s *Site) signature(name string) *Signature {
	if i := slices.IndexFunc(s.signatures, func(s *Signature) bool { return s.Name == name }); i >= 0 {
		return s.signatures[i]
	}
	return nil
}

// shop names in a Store's key who answers r: directive and server, since a
// client may write any Host, then the host as sent (another spelling may be
// another site, and costs no more than a question) and where below it.
func (s *Site) shop(r *Request) string {
	h := sha256.New()
	for _, part := range []string{s.Directive, s.Server, r.HTTP.Host, r.Whole.Call.Base} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Code is the code as this site gives it: the shop's carry the platform's prefix.
func (s *Site) Code(c Code) Code {
	switch c {
	case codeInvalidID, codeTotalMismatch, codeComputeTotals:
		return Code(s.Platform.ErrorPrefix) + c
	default:
		return c
	}
}
