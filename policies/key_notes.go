package policies

import (
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// noteOnKey says that a shop key of the caller's, or a signature, cannot count: the shop takes keys on its own
// routes alone, by the form of the address, and none over plain http (docs/platform III.8). It
// is "" if the caller sent none, or has been found.
func noteOnKey(r *Request) string {
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

// refusedCredential returns the error for an answer in which the shop refuses the credential
// of order_type. It wraps ask.ErrUndecided, and says where the credential stands and what may
// be wrong with it.
func (p *OrderType) refusedCredential(r *Request, a *ask.Answer) error {
	where := "the credential of order_type"
	if p.at != "" {
		where += " (" + p.at + ")"
	}
	return &credentialError{fmt.Errorf("%s does not work: %s: %w", where, whyRefused(r, a), ask.Unexpected(a))}
}

// credentialError is the error of a question for which the shop refuses the gateway's own key.
type credentialError struct{ error }

// Unwrap returns what is wrong with the key.
func (e *credentialError) Unwrap() error { return e.error }

// Note says in one sentence, for the operator, what has to be mended.
func (e *credentialError) Note() string {
	return "The shop refuses the gateway's own key, the credential of order_type; error says why."
}

// whyRefused says in plain words what an answer means that refuses a key.
func whyRefused(r *Request, a *ask.Answer) string {
	code, message := a.Fault()
	switch {
	case code == r.Site.Platform.ErrorPrefix+"authentication_error":
		return fmt.Sprintf("the shop says %.200q", message)
	case a.Status != http.StatusUnauthorized:
		return "its user may not read orders"
	case r.Secure:
		return "the shop takes the question for anonymous, as it does if PHP is not told that the client came by https, or if it does not know the key"
	}
	return "the shop takes the question, which is signed by OAuth 1, for anonymous: its query is lost on the way to PHP"
}
