package policies

import (
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// Watch tells whether a request, if the platform answers that it worked, ends
// or changes somebody's rights; drop is then to be called with the status of
// the answer. It is nil for all other requests, and costs nothing on them.
// r.Call is a page or a call.
func (ids *Identities) Watch(r *Request) (drop func(status int)) {
	switch r.Call.Kind {
	case call.Page:
		return ids.watchPage(r)
	case call.Single:
		return ids.watchCall(r, r.Call)
	case call.Batch:
		for _, part := range r.Call.Parts {
			if ids.watchCall(r, part) != nil {
				return onSuccess(ids.dropAll)
			}
		}
	}
	return nil
}

// watchPage knows the login script's actions and the profile screens.
func (ids *Identities) watchPage(r *Request) func(int) {
	path := r.HTTP.URL.Path
	switch {
	case strings.HasSuffix(path, "-login.php"):
		if strings.Contains(r.HTTP.URL.RawQuery, "logout") {
			session := ids.cache.sessionOf(r.HTTP, &r.Site.Platform)
			if session == "" {
				return nil
			}
			return onSuccess(func() { ids.dropSession(session) })
		}
		if r.HTTP.Method == http.MethodPost {
			return onSuccess(ids.dropAll) // a new password, perhaps
		}
	case r.HTTP.Method == http.MethodPost || strings.Contains(r.HTTP.URL.RawQuery, "action="):
		for _, screen := range []string{"/profile.php", "/user-edit.php", "/users.php", "/user-new.php"} {
			if strings.HasSuffix(path, screen) && r.Site.hasLoginCookie(r.HTTP) {
				return onSuccess(ids.dropAll)
			}
		}
	}
	return nil
}

// watchCall knows writes to users and their application passwords (E4). The
// user is whom the path names; where the platform might take the id from
// elsewhere everybody is asked about again.
func (ids *Identities) watchCall(r *Request, c *call.Call) func(int) {
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
			return onSuccess(func() { ids.dropUser(who.ID) })
		}
		return onSuccess(ids.dropAll)
	}
	id, err := c.ID("id", name)
	if err != nil || strings.Contains(rest, "/") {
		return onSuccess(ids.dropAll)
	}
	return onSuccess(func() { ids.dropUser(id) })
}

func onSuccess(drop func()) func(int) {
	return func(status int) {
		if status < 400 {
			drop()
		}
	}
}

func (ids *Identities) dropAll() { ids.cache.drop(func(identityEntry) bool { return true }) }

func (ids *Identities) dropUser(id uint64) {
	ids.cache.drop(func(e identityEntry) bool { return e.caller.ID == id || e.caller.ID == 0 })
}

func (ids *Identities) dropSession(session string) {
	ids.cache.drop(func(e identityEntry) bool { return e.session == session })
}
