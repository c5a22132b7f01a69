// Package shop has what the policies on the shop's records share: how they ask for a record, and what they say
// to a caller who is nobody.
package shop

import (
	"context"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Asker puts questions as one caller, or as the gateway.
type Asker func(context.Context, ask.Question) (*ask.Answer, error)

// WithKey returns an Asker that uses a shop key in place of the caller's credentials.
func WithKey(r *policy.Request, key string) Asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		q.As, q.Key = ask.AsKey, key
		return r.Ask(ctx, q)
	}
}

// Limited returns an Asker that counts each question against the rate of the client.
func Limited(r *policy.Request, by Asker) Asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		if err := r.Rate(); err != nil {
			return nil, err
		}
		return by(ctx, q)
	}
}

// ReadOnly returns the shop's refusal to a key that may read but not write, and nil for
// any other key. It deletes note 0, which needs the right to write and never exists
// (docs/platform III.3). It asks nothing for a policy that only observes.
func ReadOnly(ctx context.Context, r *policy.Request, as Asker) (*ask.Answer, error) {
	if r.Observed {
		return nil, nil
	}
	a, err := as(ctx, ask.Question{
		Kind: ask.KindRecord, Method: http.MethodDelete,
		Route: "/" + r.Site.Platform.Shop[2] + "/orders/0/notes/0", Query: "force=true",
	})
	if err != nil {
		return nil, fmt.Errorf("may the key write: %w", err)
	}
	if a.Denied() && a.Code() != "" {
		return a, nil
	}
	return nil, nil
}

// IsNobody tells whether nothing in a request says that somebody is logged in, as far as the gateway
// knows log-ins. A plugin may know others, such as a variable of the query. No question could carry
// them, so that the gateway itself refuses what such a caller must not do.
func IsNobody(claim caller.Claim) bool {
	return claim == caller.ClaimNothing || claim == caller.ClaimSession
}

// NobodyMayWrite refuses a call as the platform refuses it to anonymous callers, whatever the record
// is, and asks nothing.
func NobodyMayWrite(ctx context.Context, r *policy.Request, cure string) policy.Verdict {
	if claim, _ := r.Claim(); claim == caller.ClaimNothing {
		_, _, _ = r.Who(ctx) // asks nothing: the log names the caller
	}
	code, message := ask.CannotWrite(r.Call)
	return policy.Verdict{Status: http.StatusUnauthorized, Code: r.Site.Code(code), Message: message, Note: NoteNobody + cure}
}

// NoteNobody says why, and what ends such refusals of callers whom a plugin knows.
const NoteNobody = "The gateway takes the caller for nobody, and nobody may change orders. If a plugin logs the caller in by a header or a cookie of its own, the line credentials names it to the gateway. "

// CureNobody is for callers whom a plugin knows by anything but a header or a cookie. policy checks
// shops before release since, with the line release; a line of its own keeps it on.
func CureNobody(policy string, named bool, since, line, otherwise string) string {
	if named {
		line += " in place of the line " + policy
	}
	return "Where a plugin does so by anything else, such as a variable of the query, the line " + line + " ends the check for a shop of release " +
		since + " or later; for an older one only " + policy + " off does, and then such callers can " + otherwise + "."
}

// NoteOnKey says that a shop key of the caller's, or a signature, cannot count: the shop takes keys on its own
// routes alone, by the form of the address, and none over plain http (docs/platform III.8). It
// is "" if the caller sent none, or has been found.
func NoteOnKey(r *policy.Request) string {
	if r.SignedInVain() {
		return "The caller signed by OAuth 1 in the header Authorization, and the shop did not see it: the server in front of PHP keeps that header (Apache needs CGIPassAuth On). Parameters of OAuth 1 in the query arrive always."
	}
	if !r.SentShopKey() {
		return ""
	}
	if who, known := r.Known(); known && who.Kind != caller.Anonymous {
		return ""
	}
	switch {
	case r.Call.Form == call.Aliased:
		return "The caller sent a shop key under an alias, and the shop did not take it: it looks for the prefix in the address."
	case r.Call.Form != call.Pretty:
		return "The caller sent a shop key in the query form, and the shop did not take it: it takes keys there from release 11.1 on, on its own routes, and none over plain http."
	case !r.TakesKeys():
		return "The caller sent a shop key, which the shop takes on its own routes only."
	case !r.Secure:
		return "The caller sent a shop key over plain http, where the shop takes none: it needs https, or OAuth 1."
	}
	return "The caller sent a shop key, and the shop does not know it: the key is gone, or PHP is not told that the client came by https."
}
