package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// settled tells whether the request of a record has no certain reading, by its own form and not by
// a limit: the record need not hold the request, which is read so as long as the site is the same.
func settled(rec *records.Record) bool {
	codes := []policy.Code{call.CodeAmbiguous, call.CodeUnsupportedType, call.CodeNoRoute}
	byLimit := rec.Rule == "variables" || rec.Rule == "body_read"
	return rec.Policy == "call" && slices.Contains(codes, policy.Code(rec.Code)) && policy.WordFor(rec.Rule) != "" && !byLimit
}

// asSent is the fact where only the bytes of the request tell.
const asSent = "the request as it was sent, which --raw takes from a file"

// byCode are the facts that refusals with a code depend on, whatever the policy.
var byCode = map[policy.Code]string{
	policy.CodePlatform:      "the credentials, which the site itself refused",
	policy.CodeMisread:       "what the site answers to this path, where a rewrite rule may lead to the REST interface; an ERROR line with the same request id may have the path",
	policy.CodeUnavailable:   "whether the gateway finds out now what it could not find out then",
	call.CodeTooLarge:        "the size of the body, or of the batch, beside the limits as they are",
	call.CodeTooEarly:        "whether the call comes again once the connection is made",
	call.CodeAmbiguous:       asSent,
	call.CodeUnsupportedType: asSent,
}

// byPolicy are the facts that a policy decides by.
var byPolicy = map[string]string{
	"call":           asSent,
	"signature":      "the signature, what it is of, and the time at which the call came",
	"rate_limit":     "how many calls were made in the time before",
	"checkout_total": "the shopper's cart, and the total in the body",
	"refund_totals":  "the fields of the body, and the release of the shop",
	"abilities":      "the ability, its input, and whether a person has confirmed the call",
	"redact":         "the site's answer",
	"scope":          "which credential the call carried, from where and when, and its parameters",
}

// undetermined names the fact that decides and that a record does not hold; "" if the record
// determines a request that can be run again.
func undetermined(rec *records.Record) string {
	if fact := byCode[policy.Code(rec.Code)]; fact != "" {
		return fact
	}
	if code := policy.Code(rec.Code); code == policy.CodeTooMany && rec.Policy != "rate_limit" && rec.Policy != "abilities" {
		return "how many credentials had been checked for the client's address shortly before"
	}
	if fact := byPolicy[rec.Policy]; fact != "" {
		return fact
	}
	switch {
	case rec.Form == "":
		return asSent
	case !strings.HasPrefix(rec.Route, "/"):
		return "the route, since the site's REST index was not known or has no such route (the record says " + cmp.Or(rec.Route, "nothing") + ")"
	case strings.ContainsAny(rec.Route, "[]()|"):
		return "which of its forms the route had, " + rec.Route
	case rec.Method == "" || rec.Method == "other":
		return "the method"
	case rec.Caller == "unverified":
		return "who was calling, as nobody knew"
	case rec.Host == "other" && !strings.HasPrefix(rec.Site, "*"):
		return "the host"
	}
	return ""
}

// opensBatch tells whether a record is of a batch as a whole, and not of a part.
func opensBatch(rec *records.Record) bool {
	return strings.HasSuffix(rec.Route, "/batch") || rec.Route == "/batch/v1"
}
