package openings

import (
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// Remedy returns the line that would let a refused call pass if it stood before the rule
// that refused it: "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback".
// pattern is the site's own pattern for the call's route. Remedy is "" if the refusal is
// not by an access rule of the site's owner, if no such line is certain to help, or if the
// caller sent a shop key: that has to work, and the route has to stay closed.
//
// It is the line of the one route, also where a plugin needs the call: a record is about one call.
func Remedy(r *policy.Request, c *call.Call, v policy.Verdict, pattern string) string {
	if !v.Yields { // also where a signature, a limit or an ability is refused: a rule that opens the route is no cure
		return ""
	}
	rule, ok := SeekerOf(r).rule(c.Method, pattern)
	if !ok || rule.Compile() != nil {
		return ""
	}
	match, ok := rule.Match(c)
	if !ok || match.ProtectNames(c) != nil {
		return ""
	}
	return rule.Line()
}
