package policies

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// Watch tells whether a request, if the platform answers that it worked, ends
// or changes somebody's rights; drop is then to be called with status and header
// of the answer. It is nil for all other requests, and costs nothing on them.
// r.Call is a page or a call.
func (ids *Identities) Watch(r *Request) (drop func(*Answer)) {
	switch r.Call.Kind {
	case call.Page:
		return ids.watchPage(r)
	case call.Single:
		return ids.watchCall(r, r.Call)
	case call.Batch:
		for _, part := range r.Call.Parts {
			if ids.watchCall(r, part) != nil {
				return ids.dropping(r, dropping{whom: dropAll})
			}
		}
	}
	return nil
}

// watchPage knows the login script's actions and the profile screens.
func (ids *Identities) watchPage(r *Request) func(*Answer) {
	path, query := r.HTTP.URL.Path, r.HTTP.URL.RawQuery
	switch {
	case strings.HasSuffix(path, "-login.php"):
		if strings.Contains(query, "action=logout") {
			h := ids.cache.hasher.Load()
			session := sessionOf(h, r.HTTP, &r.Site.Platform)
			if session == "" {
				return nil
			}
			drop := ids.dropping(r, dropping{whom: dropSession, session: session, hasher: h.id})
			return func(a *Answer) { // without the right nonce the script asks back, and ends nothing
				if a.Status == http.StatusFound || a.Status == http.StatusSeeOther {
					drop(a)
				}
			}
		}
		if r.HTTP.Method == http.MethodPost && hasResetCookie(r.HTTP) {
			return ids.onPage(r, http.StatusOK) // a new password; a wrong key is sent elsewhere
		}
	case r.HTTP.Method == http.MethodPost || strings.Contains(query, "action="):
		for _, screen := range []string{"/profile.php", "/user-edit.php", "/users.php", "/user-new.php"} {
			if strings.HasSuffix(path, screen) && r.Site.hasLoginCookie(r.HTTP) {
				return ids.onPage(r, http.StatusOK, http.StatusFound)
			}
		}
	}
	return nil
}

// watchCall knows writes to users and their application passwords (E4). The
// user is whom the path names; where the platform might take the id from
// elsewhere everybody is asked about again.
func (ids *Identities) watchCall(r *Request, c *call.Call) func(*Answer) {
	if c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodOptions {
		return nil
	}
	rest, ok := strings.CutPrefix(c.Key, "/"+r.Site.Platform.Core+"/users/")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "me" {
		if who, known := r.Known(); known && who.ID != 0 {
			return ids.dropping(r, dropping{whom: dropUser, user: who.ID})
		}
		return ids.dropping(r, dropping{whom: dropAll})
	}
	id, err := c.ID("id", name)
	if err != nil || strings.Contains(rest, "/") {
		return ids.dropping(r, dropping{whom: dropAll})
	}
	return ids.dropping(r, dropping{whom: dropUser, user: id})
}

// onPage drops everybody where a page that changes somebody's rights says that
// it did: with one of statuses, and not by sending the client to the login form,
// as it does with anybody who merely asks.
func (ids *Identities) onPage(r *Request, statuses ...int) func(*Answer) {
	drop := ids.dropping(r, dropping{whom: dropAll})
	return func(a *Answer) {
		if slices.Contains(statuses, a.Status) && !strings.Contains(a.Header.Get("Location"), "-login.php") {
			drop(a)
		}
	}
}

// hasResetCookie tells whether r carries the cookie that holds the key to a new
// password, without which the login script sets none.
func hasResetCookie(r *http.Request) bool {
	for pair := range cookiePairs(r) {
		if name, _, _ := strings.Cut(pair, "="); strings.Contains(name, "-resetpass-") {
			return true
		}
	}
	return false
}

// dropping returns what is done once the platform has answered r.
func (ids *Identities) dropping(r *Request, d dropping) func(*Answer) {
	ctx, store := context.WithoutCancel(r.HTTP.Context()), r.Site.Store
	return onSuccess(func() { ids.drop(ctx, store, d) })
}

func onSuccess(drop func()) func(*Answer) {
	return func(a *Answer) {
		if a.Status < http.StatusBadRequest {
			drop()
		}
	}
}
