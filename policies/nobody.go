package policies

import (
	"context"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
)

// isNobody tells whether nothing in a request says that somebody is logged in, as far as the gateway
// knows log-ins. A plugin may know others, such as a variable of the query. No question could carry
// them, so that the gateway itself refuses what such a caller must not do.
func isNobody(claim caller.Claim) bool {
	return claim == caller.ClaimNothing || claim == caller.ClaimSession
}

// nobodyMayWrite refuses a call as the platform refuses it to anonymous callers, whatever the record
// is, and asks nothing.
func (s *Site) nobodyMayWrite(ctx context.Context, r *Request, cure string) Verdict {
	if claim, _ := r.Claim(); claim == caller.ClaimNothing {
		_, _, _ = r.Who(ctx) // asks nothing: the log names the caller
	}
	code, message := ask.CannotWrite(r.Call)
	return Verdict{Status: http.StatusUnauthorized, Code: s.Code(code), Message: message, Note: noteNobody + cure}
}

// nobodyMayRun refuses a tool that would update a record: nobody can ask what it is, and no
// repetition changes that.
func (p *OrderType) nobodyMayRun() Verdict {
	v := forbidden()
	v.Note = noteNobody + p.cureNobody() + " The line " + credentialLine + " lets the gateway ask for itself."
	return v
}

// noteNobody says why, and what ends such refusals of callers whom a plugin knows.
const noteNobody = "The gateway takes the caller for nobody, and nobody may change orders. If a plugin logs the caller in by a header or a cookie of its own, the line credentials names it to the gateway. "

// cureNobody is for callers whom a plugin knows by anything but a header or a cookie. policy checks
// shops before release since, with the line release; a line of its own keeps it on.
func cureNobody(policy string, named bool, since, line, otherwise string) string {
	if named {
		line += " in place of the line " + policy
	}
	return "Where a plugin does so by anything else, such as a variable of the query, the line " + line + " ends the check for a shop of release " +
		since + " or later; for an older one only " + policy + " off does, and then such callers can " + otherwise + "."
}

func (p *OrderType) cureNobody() string {
	return cureNobody("order_type", p.named, "10.8", "release, such as release 11.1,", "turn a subscription into an order")
}

func (p *RefundTotals) cureNobody() string {
	return cureNobody("refund_totals", p.named, "11.1", "release 11.1", "book refunds of 0.00")
}
