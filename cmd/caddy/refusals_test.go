package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// verdict is the expected result of a row through the gateway: one of the three below,
// the name of one of refusals, or a refusal as an answer. Nothing may be refused to
// honest callers but by one of refusals.
type verdict = string

const (
	same     verdict = "same"     // forwarded, and answered as by the bare platform
	words    verdict = "words"    // refused as by the bare platform
	redacted verdict = "redacted" // forwarded, and the secrets are hidden
)

// refusal is a refusal by design, of what the bare platform would allow.
type refusal struct {
	name        verdict
	answer      answer
	why, opened string
}

const (
	loggedOut    verdict = "login_only"
	noList       verdict = "users"
	noSecrets    verdict = "secrets"
	unsigned     verdict = "cookie plugin"
	badSignature verdict = "signature"
	noOrder      verdict = "order_type"
	noCompute    verdict = "refund_totals"
	staleTotal   verdict = "checkout_total"
	badTotal     verdict = "expected_total"
	notHere      verdict = "base"
	unchecked    verdict = "OAuth"
	hidden       verdict = "OAuth, no order"
	marker       verdict = "key_marker"
	indexForm    verdict = "index permalinks"
	oddID        verdict = "id"
	writeOnlyKey verdict = "write-only key"
	mayNotSee    verdict = "may not read"
	noLogin      verdict = "log-in"
)

var refusals = []refusal{
	{loggedOut, `401 rest_not_logged_in "Only authenticated users can access the REST API."`, "`login_only`, for anonymous calls alone: section 5, rule 1", "`allow anyone` and the route"},
	{noLogin, `401 incorrect_password "The provided password is an invalid application password."`, "under `login_only`, one answer to every refused log-in: the platform's codes tell which names and e-mail addresses exist", "nothing: the credentials are wrong"},
	{noList, `403 rest_forbidden "Sorry, you are not allowed to do that."`, "the names of all users, administrators included, for anybody (E2); logged-in users read them", "`allow anyone GET /cms/v2/users`"},
	{noSecrets, `403 rest_forbidden "Sorry, you are not allowed to do that."`, "stored secrets; who can sign is everybody (E13); administrators read them, redacted", "`recommended off`; and `redact off`, which ends the redaction"},
	{unsigned, `403 rest_forbidden "Sorry, you are not allowed to do that."`, "open routes of the cookie-consent plugin (E14); closed to everybody until `allow signed` says whose signature counts", "`allow signed` for store-auth; upload-logo stays closed"},
	{badSignature, `401 rest_invalid_signature "The signature is missing or not valid."`, "a route of `allow signed` without a good, fresh signature that is used for the first time", "the plugin's key in `signature`"},
	{noOrder, `400 shop_rest_shop_order_invalid_id "ID is invalid."`, "before 10.8 the platform would turn the record into an order, for good (section 3); the answer is 10.8's", "`order_type off`"},
	{noCompute, `400 shop_rest_compute_totals_unsupported "This shop cannot compute the totals of a refund: compute_totals needs release 11.1 or later."`, "before 11.1 the platform would ignore `compute_totals` and book a refund of 0.00", "`refund_totals off`"},
	{staleTotal, `409 shop_rest_checkout_total_mismatch "The total of the cart has changed. Please review it before you place the order."`, "before 11.1 the platform would ignore `expected_total` and take the order at a total that the customer has not seen; nothing that it shows proves 11.1", "`checkout_total off`, or `release 11.1`"},
	{badTotal, `400 rest_invalid_param "Invalid parameter(s): expected_total"`, "the same, for an `expected_total` that is no integer; the answer is 11.1's", "`checkout_total off`"},
	{notHere, noRoute, "`base` names the sub-folder, and the call stands outside of it, where the platform has no REST (section 4, rule 2)", "`base`"},
	{unchecked, `503 rest_policy_unavailable "The request could not be checked. Please try again."`, "only the platform can check OAuth 1, so the gateway cannot ask in the caller's name what record the id is", "`release` from 10.8 on, such as `release 11.1`; before that `order_type { credential … }`"},
	{hidden, `403 rest_forbidden "Sorry, you are not allowed to do that."`, "the same, with a `credential`: the id is no order, and the gateway cannot ask whether this caller may know that", "`order_type off`"},
	{writeOnlyKey, `401 shop_rest_authentication_error "The API key provided does not have read permissions."`, "a key that may not read may not ask what record an id is, and the gateway asks as the caller until it has a `credential`", "`release` from 10.8 on, such as `release 11.1`; before that `order_type { credential … }`"},
	{mayNotSee, `403 shop_rest_cannot_edit "Sorry, you are not allowed to edit this resource."`, "the same for an editor, who before 10.8 may change orders and not read them", "`order_type { credential … }`"},
	{marker, noMeaning, "the text makes a key of the shop valid on any route, wherever in the address it stands; no client writes it there", "nothing: send the call without the text"},
	{indexForm, noMeaning, "PHP set-ups read `/index.php/` and the prefix behind it in three ways", "pretty permalinks without `index.php`"},
	{oddID, noMeaning, "an id of an order update that is not plain digits; the platform has readings of its own for such ids", "nothing: the platform has no order of such an id"},
}

// refusalOf returns the refusal by design that v names.
func refusalOf(v verdict) (refusal, bool) {
	i := slices.IndexFunc(refusals, func(r refusal) bool { return r.name == v })
	if i < 0 {
		return refusal{}, false
	}
	return refusals[i], true
}

// refuses tells whether v is a refusal in the gateway's own words.
func refuses(v verdict) bool { return v != same && v != words && v != redacted }

// answerOf returns the answer of a verdict that refuses.
func answerOf(v verdict) answer {
	if r, ok := refusalOf(v); ok {
		return r.answer
	}
	if refuses(v) {
		return v
	}
	return ""
}

// byDesign tells whether the gateway refuses what the bare platform allows.
func byDesign(bare answer, v verdict) bool { return refuses(v) && bare < "400" }

// unexplained returns the rows that refuse good credentials, or what the bare platform
// allows, without a reason of refusals. That somebody must log in is no reason for good
// credentials.
func unexplained(all []row) []string {
	var found []string
	for i := range all {
		r := &all[i]
		for _, release := range releases {
			for _, v := range []verdict{r.defaults(release), r.closed(release)} {
				_, reason := refusalOf(v)
				switch bare := r.bare(release); {
				case r.honest() && v == loggedOut:
					found = append(found, fmt.Sprintf("%s, %s, %s: good credentials are refused as none", r.of, r.says, release))
				case !reason && refuses(v) && (r.honest() || bare < "400"):
					found = append(found, fmt.Sprintf("%s, %s, %s: %s instead of %s without a reason", r.of, r.says, release, v, bare))
				}
			}
		}
	}
	return slices.Compact(found)
}

// TestDocument_Refusals: no honest call is refused without a reason.
func TestDocument_Refusals(t *testing.T) {
	t.Parallel()
	for _, problem := range unexplained(rows()) {
		t.Error(problem)
	}
	for i, r := range refusals {
		if r.why == "" || r.opened == "" || slices.ContainsFunc(refusals[:i], func(other refusal) bool { return other.name == r.name }) {
			t.Errorf("%s: no reason, no way to open it, or twice", r.name)
		}
	}
}

// TestDocument_RefusalsPlanted: the test above finds refusals without a reason.
func TestDocument_RefusalsPlanted(t *testing.T) {
	t.Parallel()
	for name, planted := range map[string]row{
		"a key, refused in other words":   {as: "key", bare: ok, gate: always(`401 invalid_username "Unknown username."`)},
		"a key, refused as no login":      {as: "key", bare: ok, loginOnly: always(loggedOut)},
		"a user, refused elsewhere too":   {as: "admin", bare: always(`404 rest_no_route "No route."`), gate: always(`403 rest_forbidden "No."`)},
		"a visitor, where it is allowed":  {bare: ok, gate: always(`403 rest_forbidden "No."`), page: true},
		"a nonce, refused from 11.1 only": {as: "admin nonce", bare: ok, gate: since("11.1", same, `400 x "y"`)},
	} {
		planted.of, planted.says = "4 E1", name
		found := unexplained([]row{planted})
		if len(found) == 0 || !strings.Contains(found[0], name) {
			t.Errorf("%s: found %q", name, found)
		}
	}
	for name, fine := range map[string]row{
		"the same":         {as: "key", bare: ok},
		"a reason":         {as: "admin", bare: ok, gate: always(noOrder)},
		"no login":         {bare: ok},
		"a wrong password": {as: "admin wrong password", bare: always(`401 x "y"`), gate: always(words)},
	} {
		if found := unexplained([]row{fine}); found != nil {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
