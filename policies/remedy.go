package policies

import (
	"net/http"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// Remedy returns the line that would let a refused call pass if it stood before the rule
// that refused it: "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback".
// pattern is the site's own pattern for the call's route. Remedy is "" if the refusal is
// not by an access rule of the site's owner, if no such line is certain to help, or if the
// caller sent a shop key: that has to work, and the route has to stay closed.
func Remedy(r *Request, c *call.Call, v Verdict, pattern string) string {
	by, known := r.Known()
	who := "anyone"
	if known && by.Kind != caller.Anonymous {
		who = "users"
	}
	byLine := v.Origin == OriginOwn || v.Origin == OriginDefault
	if !byLine || who == "anyone" && r.SentShopKey() {
		return ""
	}
	method := c.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rule := Rule{Allow: who, Methods: []string{method}, Routes: []string{pattern}}
	if rule.compile() != nil {
		return ""
	}
	match, ok := rule.match(c)
	if !ok || match.protectNames(c) != nil {
		return ""
	}
	return rule.String()
}
