package ordertype

import (
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// nobodyMayRun refuses a tool that would update a record: nobody can ask what it is, and no
// repetition changes that.
func (p *OrderType) nobodyMayRun() policy.Verdict {
	v := policy.Forbidden()
	v.Note = shop.NoteNobody + p.cureNobody() + " The line " + credentialLine + " lets the gateway ask for itself."
	return v
}

func (p *OrderType) cureNobody() string {
	return shop.CureNobody("order_type", p.named, "10.8", "release, such as release 11.1,", "turn a subscription into an order")
}

// refusedCredential returns the error for an answer in which the shop refuses the credential
// of order_type. It wraps ask.ErrUndecided, and says where the credential stands and what may
// be wrong with it.
func (p *OrderType) refusedCredential(r *policy.Request, a *ask.Answer) error {
	where := "the credential of order_type"
	if p.at != "" {
		where += " (" + p.at + ")"
	}
	return ask.Noted(fmt.Errorf("%s does not work: %s: %w", where, whyRefused(r, a), ask.Unexpected(a)),
		"The shop refuses the gateway's own key, the credential of order_type; error says why.")
}

// whyRefused says in plain words what an answer means that refuses a key.
func whyRefused(r *policy.Request, a *ask.Answer) string {
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
