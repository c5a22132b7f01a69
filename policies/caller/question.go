package caller

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// questionFor returns the question that tells who makes the claim.
func questionFor(claim Claim, p *platforms.Platform, w *Whole) ask.Question {
	q := ask.Question{Kind: ask.KindCaller, Method: http.MethodGet}
	switch claim {
	case ClaimTool:
		q.As, q.Key = ask.AsKey, w.HTTP.Header.Get("X-Mcp-Api-Key")
		q.Route, q.Query = "/"+p.Shop[2]+"/orders", "per_page=1&_fields=id"
	case ClaimOAuth1:
		return arrivalQuestion(p, w)
	case ClaimKey:
		q.Route, q.Query = "/"+p.Shop[2]+"/orders", "per_page=1&_fields=id"
	case ClaimAdministrator:
		q.Route, q.Query = "/"+p.Core+"/settings", "_fields=title"
	case ClaimPassword:
		q.Route, q.Query, q.Either = "/"+p.Core+PasswordUsed, "_fields=uuid", true
	case ClaimSession:
		q.Route, q.Query = "/"+p.Checkout+"/cart", "_fields=totals"
	default:
		q.Route, q.Query, q.Either = "/"+p.Core+"/users/me", "context=edit", true
	}
	return q
}

// interpret reads the answer to the question q about a claim.
func interpret(a *ask.Answer, claim Claim, q *ask.Question, p *platforms.Platform) (identity, error) {
	if claim == ClaimOAuth1 {
		return interpretArrival(a, q, p)
	}
	if claim == ClaimAdministrator {
		return interpretSettings(a)
	}
	if code := a.Code(); handedOn[code] {
		if claim == ClaimNamespace { // not about what the client sent
			return identity{}, nil
		}
		return identity{answer: a}, nil
	}
	switch claim {
	case ClaimKey, ClaimTool:
		return interpretKey(a)
	case ClaimPassword:
		return interpretPassword(a)
	case ClaimSession:
		return interpretSession(a)
	case ClaimBasic:
		if a.Status == http.StatusUnauthorized && a.Code() != "rest_not_logged_in" { // it may be one of somebody who is logged in
			return identity{}, ask.Unexpected(a)
		}
		return interpretUser(a, p)
	default:
		return interpretUser(a, p)
	}
}

// handedOn are the error codes with which the platform refuses credentials as such. The
// client receives that answer as it is (docs/identity.md).
var handedOn = map[string]bool{
	"rest_cookie_invalid_nonce":               true,
	"incorrect_password":                      true,
	"invalid_username":                        true,
	"invalid_email":                           true,
	"application_passwords_disabled":          true,
	"application_passwords_disabled_for_user": true,
}

// RefusesLogin tells whether the platform refuses a name and a password with a. Its codes and
// words may tell whether the name exists.
func RefusesLogin(a *ask.Answer) bool {
	code := a.Code()
	return handedOn[code] && code != "rest_cookie_invalid_nonce"
}

// Notes say in one sentence, for the operator, what to change.
const (
	noteTakenAway = "The site has no route %s, by which the gateway asks who is calling: a plugin or a snippet has taken it away with the list of users. Leave %[1]s in; it shows nobody but the caller."
	noteUntold    = "The site's answer to users/me?context=edit has no %s: the server behind the gateway drops the query, as nginx does with try_files … /index.php in place of /index.php?$args, or a plugin takes them out. Let the server hand the query on."
)

// ErrUntold is wrapped by the errors of Untold. It wraps ask.ErrUndecided.
var ErrUntold = fmt.Errorf("%w: the answer about the user has no", ask.ErrUndecided)

// Untold is the error of a decision that needs what the answer about a user does not tell: "roles",
// "capabilities" or "username".
func Untold(what string) error {
	return ask.Noted(fmt.Errorf("%w %s", ErrUntold, what), fmt.Sprintf(noteUntold, what))
}

func interpretUser(a *ask.Answer, p *platforms.Platform) (identity, error) {
	code := a.Code()
	if a.Status == http.StatusUnauthorized && code != "" || a.Status == http.StatusForbidden && code == "rest_not_logged_in" {
		return identity{}, nil // the two statuses of docs/project/interface 7
	}
	if a.Status == http.StatusNotFound && code == "rest_no_route" {
		return identity{}, ask.Noted(ask.Unexpected(a), fmt.Sprintf(noteTakenAway, "/"+p.Core+"/users/me"))
	}
	if a.Status != http.StatusOK {
		return identity{}, ask.Unexpected(a)
	}
	var body struct {
		ID           uint64          `json:"id"`
		Login        json.RawMessage `json:"username"`
		Roles        []string        `json:"roles"`
		Capabilities json.RawMessage `json:"capabilities"` // of oneself both are always there (docs/platform II)
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return identity{}, ask.Unexpected(a)
	}
	if body.ID == 0 {
		return identity{}, fmt.Errorf("%w: the answer has no user id", ask.ErrUndecided)
	}
	caps, err := grantedCapabilities(body.Capabilities)
	if err != nil {
		return identity{}, err
	}
	return identity{caller: Caller{
		Kind: User, ID: body.ID, Login: loginOf(body.Login), Roles: body.Roles, Capabilities: caps,
		NoRoles: body.Roles == nil, NoCapabilities: body.Capabilities == nil,
	}}, nil
}

// loginOf reads the login name of a user. Nothing depends on it that a user may do, so that no answer
// is unusable without it.
func loginOf(raw json.RawMessage) string {
	var login string
	if json.Unmarshal(raw, &login) != nil || len(login) > maxLogin {
		return ""
	}
	return login
}

// interpretSettings reads the site's settings, which only who may manage options is shown.
func interpretSettings(a *ask.Answer) (identity, error) {
	var settings struct {
		Title *string `json:"title"`
	}
	switch {
	case a.Status == http.StatusOK && json.Unmarshal(a.Body, &settings) == nil && settings.Title != nil:
		return identity{caller: Caller{Kind: User, Administrator: true}}, nil
	case a.Denied(), a.Status == http.StatusNotFound:
		return identity{caller: Caller{Kind: User}}, nil
	}
	return identity{}, ask.Unexpected(a)
}

// grantedCapabilities reads {"read":true,"x":false}. PHP writes an empty list for no
// capabilities. Only the value true grants.
func grantedCapabilities(raw json.RawMessage) (map[string]bool, error) {
	if len(raw) == 0 || string(raw) == "[]" || string(raw) == "null" {
		return nil, nil
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("%w: capabilities: %w", ask.ErrUndecided, err)
	}
	granted := make(map[string]bool, len(all))
	for name, v := range all {
		if v == true {
			granted[name] = true
		}
	}
	return granted, nil
}

// interpretKey reads the answer of the list of orders. A key that may read gets the list,
// a key of a user without the right to view orders gets 403, a write-only key and an
// unknown key get 401 (docs/platform III.3, III.8). The notes of an order would not do:
// the answer for a missing order is the same for everybody.
func interpretKey(a *ask.Answer) (identity, error) {
	code := a.Code()
	switch {
	case a.Status == http.StatusOK && bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("[")),
		a.Status == http.StatusForbidden && strings.HasSuffix(code, "cannot_view"), a.MayNotRead():
		return identity{caller: Caller{Kind: KeyHolder}}, nil
	case a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error"):
		return identity{answer: a}, nil
	case a.Status == http.StatusUnauthorized && code != "":
		return identity{}, nil
	}
	return identity{}, ask.Unexpected(a)
}

// interpretSession reads the cart's header User-ID: 0 for guests. A key that may only write may not
// read the cart.
func interpretSession(a *ask.Answer) (identity, error) {
	if a.MayNotRead() {
		return identity{caller: Caller{Kind: KeyHolder}}, nil
	}
	if a.Status != http.StatusOK {
		return identity{}, ask.Unexpected(a)
	}
	id, err := strconv.ParseUint(a.Header.Get("User-ID"), 10, 64)
	if err != nil {
		return identity{}, fmt.Errorf("the cart names no user: %w", ask.Unexpected(a))
	}
	if id == 0 {
		return identity{}, nil
	}
	return identity{caller: Caller{Kind: User, ID: id}}, nil
}
