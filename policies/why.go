package policies

import (
	"cmp"
	"fmt"

	"github.com/restwarden/restwarden/policies/call"
)

// Why says in one sentence, for support staff, why d is a refusal. The sentence is made of
// the policy and the code alone: it says nothing of a record. It is "" for a call that
// passes.
func (d Decision) Why() string {
	if d.Outcome == Pass {
		return ""
	}
	sentence := d.why()
	if d.Verdict.Note != "" {
		sentence += " " + d.Verdict.Note
	}
	return sentence
}

func (d Decision) why() string {
	if a := d.Verdict.Answer; a != nil {
		switch code := a.PlainCode(); {
		case code != "":
			return fmt.Sprintf("The platform itself refuses the call or its credentials with %s.", code)
		case a.Code() == "":
			return "The site refuses its REST interface, and not in the platform's words."
		}
		return "The platform itself refuses the call or its credentials."
	}
	own := whys[d.Policy]
	return cmp.Or(own[d.Verdict.Code], why[d.Verdict.Code], own[""])
}

// why has the sentences for codes of any policy.
var why = map[Code]string{
	CodeNotLoggedIn:          "The call needs a login, and the caller sent none that counts here.",
	CodeForbidden:            "The site does not allow this call to this caller.",
	CodeNoRoute:              "The site does not offer this route.",
	CodeSignature:            "The call must be signed, and its signature is missing, wrong, too old or used before.",
	CodeTooMany:              "Too many checks of credentials were needed for this client's address; it may try again later.",
	CodeAmbiguous:            "The request can be read in more than one way, so that nobody knows what the platform would do.",
	CodeInvalidParam:         "A parameter of the call does not have the type that the platform needs.",
	CodeUnavailable:          "The gateway could not find out what it has to know before the call may pass.",
	call.CodeTooLarge:        "The request is larger than the site's limits allow.",
	call.CodeUnsupportedType: "The body is encoded in a way that cannot be checked.",
	call.CodeTooEarly:        "The call came before the connection was made, so that it may be a copy; clients send it again by themselves.",
}

// whys has the sentences of single policies, by policy and code; "" stands for the code
// that only this policy gives.
var whys = map[string]map[Code]string{
	"access": {
		CodeNotLoggedIn: "A rule asks for a login for this call, and the caller sent none that counts here.",
		CodeForbidden:   "A rule does not allow this call to this caller.",
		CodeNoRoute:     "A rule hides this route.",
	},
	LockdownName: {
		CodeNotLoggedIn: "The site's owner has closed the REST interface to visitors for a while, and the caller sent no login that counts here.",
	},
	"checkout_total": {"": "The total of the cart is not the one that the shopper has seen."},
	"order_type":     {"": "The id is none that this route may change."},
	"refund_totals":  {"": "This release of the shop would not compute the amount of the refund."},
	"rate_limit":     {CodeTooMany: "The client has made more calls than the limit allows; it may try again later."},
	"abilities": {
		CodeForbidden:    "The site does not allow this ability to run in this way.",
		CodeInvalidParam: "The input does not fit the schema of the ability.",
		CodeConfirm:      "A person must confirm this call before it runs.",
		CodeTooMany:      "Too many calls of the caller, or of the site, wait for a person, or too many checks of credentials were needed.",
	},
	"redact": {CodeUnavailable: "The answer could not be checked for what must not leave the site."},
}
