package policies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// question is what the platform is asked to learn who is calling.
func question(r *Request, claim claim) Question {
	q := Question{
		Kind: LookupCaller, Method: http.MethodGet, As: AsCaller,
		Base: r.Call.Base, Form: r.Call.Form == call.Query,
	}
	switch claim {
	case claimsTool:
		q.As, q.Key = AsKey, r.HTTP.Header.Get("X-Mcp-Api-Key")
		q.Route, q.Query = "/"+r.Site.Platform.Shop[2]+"/orders", "per_page=1&_fields=id"
		return q
	case claimsKey:
		q.Route, q.Query = "/"+r.Site.Platform.Shop[2]+"/orders", "per_page=1&_fields=id"
	case claimsSession:
		q.Route, q.Query = "/"+r.Site.Platform.Checkout+"/cart", "_fields=totals"
	default:
		q.Route, q.Query = "/"+r.Site.Platform.Core+"/users/me", "context=edit"
	}
	q.Query = r.Site.withCredentials(r.Call, claim, q.Query)
	return q
}

// withCredentials adds to query what the client sent of its credentials as
// variables: the nonce, or a shop key.
func (s *Site) withCredentials(c *call.Call, claim claim, query string) string {
	v := url.Values{}
	if nonce, set, err := c.Variable(s.Platform.NonceParam); set && err == nil {
		v.Set(s.Platform.NonceParam, nonce)
	}
	if claim == claimsKey {
		for _, name := range []string{"consumer_key", "consumer_secret"} {
			if value, set := c.QueryVariable(name); set {
				v.Set(name, value)
			}
		}
	}
	if len(v) == 0 {
		return query
	}
	if query != "" {
		query += "&"
	}
	return query + v.Encode()
}

func interpret(a *Answer, claim claim) (identity, error) {
	if code := a.Code(); handedOn[code] {
		return identity{answer: a}, nil
	}
	switch claim {
	case claimsKey, claimsTool:
		return interpretKey(a)
	case claimsSession:
		return interpretSession(a)
	}
	return interpretUser(a)
}

// handedOn are the answers to credentials that the platform refuses as such:
// they go to the client in the platform's own words (docs/design 7).
var handedOn = map[string]bool{
	"rest_cookie_invalid_nonce":               true,
	"incorrect_password":                      true,
	"invalid_username":                        true,
	"invalid_email":                           true,
	"application_passwords_disabled":          true,
	"application_passwords_disabled_for_user": true,
}

// wrongPassword are those of them that are about a name and a password.
var wrongPassword = map[string]bool{"incorrect_password": true, "invalid_username": true, "invalid_email": true}

func interpretUser(a *Answer) (identity, error) {
	if a.Status == http.StatusUnauthorized && a.Code() != "" {
		return identity{}, nil
	}
	if a.Status != http.StatusOK {
		return identity{}, Unexpected(a)
	}
	var body struct {
		ID           uint64          `json:"id"`
		Roles        []string        `json:"roles"`
		Capabilities json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return identity{}, fmt.Errorf("%w: the answer is not a user: %w", ErrUndecided, err)
	}
	if body.ID == 0 {
		return identity{}, fmt.Errorf("%w: the answer has no user id", ErrUndecided)
	}
	caps, err := grantedCapabilities(body.Capabilities)
	if err != nil {
		return identity{}, err
	}
	return identity{caller: Caller{Kind: User, ID: body.ID, Roles: body.Roles, Capabilities: caps}}, nil
}

// grantedCapabilities reads {"read":true,"x":false}; PHP writes an empty list
// for no capabilities at all. What is not exactly true is not granted.
func grantedCapabilities(raw json.RawMessage) (map[string]bool, error) {
	if len(raw) == 0 || string(raw) == "[]" || string(raw) == "null" {
		return nil, nil
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("%w: capabilities: %w", ErrUndecided, err)
	}
	granted := make(map[string]bool, len(all))
	for name, v := range all {
		if v == true {
			granted[name] = true
		}
	}
	return granted, nil
}

// interpretKey reads the answer of the list of orders: it is for keys that may
// read, 403 for those of somebody else, 401 for write-only ones and for nobody
// (docs/platform III.3, III.8). The notes of an order will not do: where there is no
// such order they say so to everybody.
func interpretKey(a *Answer) (identity, error) {
	code, message := a.Fault()
	switch {
	case a.Status == http.StatusOK && bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("[")),
		a.Status == http.StatusForbidden && strings.HasSuffix(code, "cannot_view"),
		a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error") && strings.Contains(message, "read permissions"):
		return identity{caller: Caller{Kind: KeyHolder}}, nil
	case a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error"):
		return identity{answer: a}, nil
	case a.Status == http.StatusUnauthorized && code != "":
		return identity{}, nil
	}
	return identity{}, Unexpected(a)
}

// interpretSession reads the header User-ID of the cart: 0 for guests.
func interpretSession(a *Answer) (identity, error) {
	if a.Status != http.StatusOK {
		return identity{}, Unexpected(a)
	}
	id, err := strconv.ParseUint(a.Header.Get("User-ID"), 10, 64)
	if err != nil {
		return identity{}, fmt.Errorf("%w: the cart names no user", ErrUndecided)
	}
	if id == 0 {
		return identity{}, nil
	}
	return identity{caller: Caller{Kind: User, ID: id}}, nil
}
