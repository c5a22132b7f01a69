package caller

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"github.com/restwarden/restwarden/policies/ask"
)

// ByPassword returns the user whom the platform names for the name and the password in Authorization, whatever else
// says who is calling. It asks nothing more than Who unless there is anything else, or nobody knows them: that may be what
// the platform has said before.
func (w *Whole) ByPassword(ctx context.Context) (Caller, *ask.Answer, error) {
	switch claim, err := w.Claim(); {
	case err != nil:
		return Caller{}, nil, err
	case claim == ClaimUser && !w.saysBeside():
		if who, answer, err := w.Who(ctx); err != nil || who.Accepted() {
			return who, answer, err
		}
	}
	return w.Site.Identities.find(ctx, w, ClaimBasic)
}

// ByToken returns the user whom the platform names for a log-in that SaysUser tells of, whatever login cookie is beside
// it. It asks nothing more than Who unless there is one, or nobody knows it, as ByPassword.
func (w *Whole) ByToken(ctx context.Context) (Caller, *ask.Answer, error) {
	switch claim, err := w.Claim(); {
	case err != nil:
		return Caller{}, nil, err
	case claim == ClaimUser && !w.Site.hasLoginCookie(w.HTTP.Header):
		if who, answer, err := w.Who(ctx); err != nil || who.Accepted() {
			return who, answer, err
		}
	}
	return w.Site.Identities.find(ctx, w, ClaimToken)
}

// SaysUser tells whether w carries a log-in that does not say whose it is: a token in Authorization, or a header or
// cookie that the site names. A key of the shop is none.
func (w *Whole) SaysUser() bool {
	return slices.ContainsFunc(w.Site.rows, func(r row) bool {
		switch {
		case r.name == "Authorization" && r.in == inHeader:
			return r.says(w.HTTP.Header) && !w.SentPassword() && !isOAuth1Header(w.HTTP.Header)
		case r.names != nil || !r.user:
			return false
		case r.in == inHeader:
			return r.says(w.HTTP.Header)
		}
		return w.Site.carries(w.HTTP, &r)
	})
}

// saysBeside tells whether w has another row of the table than Authorization about which the platform is asked for
// the current user, or a cookie.
func (w *Whole) saysBeside() bool {
	return slices.ContainsFunc(w.Site.rows, func(r row) bool {
		return r.keyed.has(ClaimUser) && !r.keyed.has(ClaimBasic) && w.Site.carries(w.HTTP, &r)
	})
}

// Password returns the uuid of the application password that w has in Authorization, as the platform says. It is ""
// where the platform takes none there. The error wraps [ask.ErrUndecided] or [ask.ErrTooMany], or is a *call.Refusal.
func (w *Whole) Password(ctx context.Context) (uuid string, err error) {
	who, _, err := w.Site.Identities.find(ctx, w, ClaimPassword)
	return who.Password, err
}

// PasswordUsed is the platform's route, below the core's namespace, that names the application password of the
// request itself (docs/platform/shop-callers.md, III.8).
const PasswordUsed = "/users/me/application-passwords/introspect" //nolint:gosec // a route

// uuids are those of application passwords.
var uuids = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// PlainUUID tells whether a text is a uuid as the platform writes it.
func PlainUUID(text string) bool { return uuids.MatchString(text) }

func interpretPassword(a *ask.Answer) (identity, error) {
	var used struct {
		UUID string `json:"uuid"`
	}
	switch code := a.Code(); { // another refusal may be one of somebody who is logged in
	case a.Status == http.StatusOK && json.Unmarshal(a.Body, &used) == nil && uuids.MatchString(used.UUID):
		return identity{caller: Caller{Kind: User, Password: used.UUID}}, nil
	case a.Status == http.StatusNotFound && code == "rest_no_authenticated_app_password": // of somebody who is logged in
		return identity{caller: Caller{Kind: User}}, nil
	case code == "rest_not_logged_in" && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden):
		return identity{}, nil
	}
	return identity{}, ask.Unexpected(a)
}
