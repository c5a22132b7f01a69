package policies

import "github.com/restwarden/restwarden/policies/call"

// Remedy returns the line that would let a refused call pass if it stood before the rule
// that refused it: "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback".
// pattern is the site's own pattern for the call's route. Remedy is "" if the refusal is
// not by an access rule of the site's owner, if no such line is certain to help, or if the
// caller sent a shop key: that has to work, and the route has to stay closed.
//
// It is the line of the one route, also where a plugin needs the call: a record is about one call.
func Remedy(r *Request, c *call.Call, v Verdict, pattern string) string {
	if !v.Yields { // also where a signature, a limit or an ability is refused: a rule that opens the route is no cure
		return ""
	}
	rule, ok := SeekerOf(r).rule(c.Method, pattern)
	if !ok || rule.compile() != nil {
		return ""
	}
	match, ok := rule.match(c)
	if !ok || match.protectNames(c) != nil {
		return ""
	}
	return rule.Line()
}

// yields tells whether a rule of the owner's that stands before r, or in place of a default, decides
// instead of it.
func (r *Rule) yields() bool {
	return !r.OnlyTakesAway() && (r.Origin() == OriginOwn || r.Origin() == OriginDefault)
}
