package policy

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Why says in one sentence, for support staff, why d is a refusal. The sentence is made of
// the policy, the code and the word for a reading alone: it says nothing of a record. It is ""
// for a call that passes.
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
	v := &d.Verdict
	own := ""
	if d.explainer != nil {
		own = d.explainer.Why(*v)
	}
	if v.Answer != nil {
		return cmp.Or(own, whyAnswered(v.Answer))
	}
	if sentence := words[v.Rule]; sentence != "" && v.Code != CodeInvalidParam { // there the rule is the parameter's name
		return sentence
	}
	login := ""
	if v.Status == http.StatusUnauthorized { // in words of the shop
		login = why[CodeNotLoggedIn]
	}
	return cmp.Or(own, why[v.Code], login)
}

// whyAnswered is about the platform's own refusal.
func whyAnswered(a *ask.Answer) string {
	switch code := a.PlainCode(); {
	case code != "":
		return fmt.Sprintf("The platform itself refuses the call or its credentials with %s.", code)
	case a.Code() == "":
		return "The site refuses its REST interface, and not in the platform's words."
	}
	return "The platform itself refuses the call or its credentials."
}

// WordFor returns the sentence for a word that stands in place of a rule, or "".
func WordFor(rule string) string { return words[rule] }

// why has the sentences for codes of any policy.
var why = map[Code]string{
	CodeNotLoggedIn:          "The call needs a login, and the caller sent none that counts here.",
	CodeForbidden:            "The site does not allow this call to this caller.",
	CodeNoRoute:              "The site does not offer this route.",
	CodeSignature:            "The call must be signed, and its signature is missing, wrong, too old or used before.",
	CodeTooMany:              "Too many checks of credentials were needed for this client's address; it may try again later.",
	CodeAmbiguous:            "The request can be read in more than one way, so that nobody knows what the platform would do.",
	CodeInvalidParam:         "A parameter of the call does not have the type that the platform needs.",
	CodeMisread:              "The REST interface answered what looked like a page: a rewrite rule of the server, a theme or a plugin leads this path there, so that no rule had judged the call.",
	CodeUnavailable:          "The gateway could not find out what it has to know before the call may pass.",
	call.CodeTooLarge:        "The request is larger than the site's limits allow.",
	call.CodeUnsupportedType: "The body is encoded in a way that cannot be checked.",
	call.CodeTooEarly:        "The call came before the connection was made, so that it may be a copy; clients send it again by themselves.",
}

// words explains in a sentence the word that stands in place of a rule where a request has no
// certain reading, or is over a limit. docs/policies/call has a table of them.
var words = map[string]string{
	"method":            "The request's method, or what overrides it, is none that the platform is certain to read in one way.",
	"target":            "The request's address is not a plain path with a query, is very long, or has bytes that servers change on the way.",
	"path":              "The address has the REST prefix in an odd spelling or twice, so that servers may disagree about the path.",
	"script_path":       "The address names a PHP script in a way that servers cut apart differently.",
	"rewritten_path":    "The address before the site's rewrites and the one after them are not the same call.",
	"two_routes":        "The request names two different REST routes, one in its address and one as rest_route, and it is not certain which of them WordPress would run.",
	"route":             "The value of rest_route has no certain reading.",
	"route_dot":         "The route differs from one that has a dot only in that dot, which WordPress takes for any character: it would run that other route.",
	"variables":         "The request has fields that not every PHP reads alike: too many, too deep, with an odd name, a list where a text belongs, or one that decides next to a semicolon or to what a cache cuts out.",
	"key_marker":        "The address has the text by which the shop would accept its keys on any route.",
	"connection_header": "A Connection header names a header that decides, which servers may then drop.",
	"repeated_header":   "A header that decides was sent twice, and servers disagree about which one counts.",
	"header_value":      "A header that decides has blanks around its value, is very long, or holds what PHP may take out.",
	"header_alias":      "PHP would take one header of the request for another one.",
	"upgrade":           "The request asks to leave HTTP on this connection, which no REST call does.",
	"body":              "The body is not what its type says.",
	"body_read":         "The body broke off, or came too slowly: the client or the network stopped sending.",
	"body_type":         "The type of the body is one that servers read differently.",
	"id":                "The id of a record is not written in plain digits.",
	"batch":             "A batch, or a part of it, has no certain reading.",
	"nested_batch":      "A part of a batch is a batch itself.",
	"outside_base":      "The address is outside the folder of the site that the directive guards (its base).",
	"body_limit":        "The body is larger than the site's limits allow.",
	"batch_limit":       "The batch has more parts than the site's limits allow.",
	"content_encoding":  "The body is compressed or encoded, so that it cannot be checked.",
	"early_data":        "The call came before the connection was made, so that it may be a copy; clients send it again by themselves.",
	"spool_limit":       "The space that bodies may take on disk together, or the share of this client or site in it, is used up or too small for this body.",
	"disk":              "The gateway's disk is full or fails, so that the body could not be kept: the machine needs its operator.",
	"memory":            "The memory for bodies that must be read in one piece was used up for too long.",

	"parameter_outside_path": "A parameter that a rule looks at is given a second time outside the address.",
	"shop_key":               "A key of the shop is spelled so that the shop would clean it, or is given twice, so that nobody knows which key it is.",
	"cookie_alias":           "PHP would take a cookie of the request for a login cookie of another name.",
	"tool_calls":             "The message to the shop's server of tools has no certain reading.",
	"cart_batch":             "The batch changes the cart whose total it states.",
	"checkout_variables":     "The address or the form of the checkout has fields that are not the checkout's, by which the shop may change the cart first.",
	"address":                "An address of the checkout is not in the form that the shop reads.",
	"ability_id":             "No ability can have this id.",
	"inner_route":            "The route of a call inside the message has no certain reading.",
	"inner_data":             "The data of a call inside the message has no certain reading.",
	"message":                "The body is no message to a server of tools that all servers read in the same way.",
	"message_list":           "The body is a list of messages, or PHP takes it for one.",
	"message_envelope":       "The outer fields of the message have another form than the protocol says.",
	"message_name":           "The name in the message is one that some servers trim, cut or refuse.",
	"message_arguments":      "The arguments in the message are neither an object nor an empty list.",
	"message_headers":        "The headers of the message do not say what its body says.",
	"message_cookie":         "The message has a login cookie without a nonce, which does not say for certain who calls there.",
	"message_tool":           "Two abilities have the name of the tool.",
	"tools_marker":           "The address has the route of the shop's server of tools as text, and is not that route.",
	"parameter_place":        "The call that a person is to confirm has input where the platform does not read it.",
	"unsigned_query":         "The call has a query that its signature does not cover.",
	"signed_body_type":       "The type of the signed body is one that servers read differently.",
	"strip_query":            "Without the parameter that strip_query drops it would be another call.",
}
