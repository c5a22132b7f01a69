package policies

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Watch tells whether a request, if the platform answers that it worked, ends
// or changes somebody's rights; drop is then to be called with status and header
// of the answer, and with WatchedBody bytes of its body where body says so. It is
// nil for all other requests, and costs nothing on them. r.Call is a page or a call.
func (ids *Identities) Watch(r *Request) (drop func(*Answer), body bool) {
	switch r.Call.Kind {
	case call.Page:
		return ids.watchPage(r)
	case call.Single:
		return ids.watchCall(r, r.Call), false
	case call.Batch:
		for _, part := range r.Call.Parts {
			if ids.watchCall(r, part) != nil {
				return ids.dropping(r, dropping{whom: dropAll}), false
			}
		}
	}
	return nil, false
}

// WatchedBody is how much of an answer's body a watch looks at.
const WatchedBody = 256

// watchPage knows the login script's actions, the screens of users, and the one
// action of scripts that ends sessions.
func (ids *Identities) watchPage(r *Request) (drop func(*Answer), body bool) {
	where, query, post := r.HTTP.URL.Path, r.HTTP.URL.RawQuery, r.HTTP.Method == http.MethodPost
	switch {
	case post && hasResetCookie(r.HTTP):
		return ids.dropIf(r, passwordSet, dropping{whom: dropAll}), false
	case strings.HasSuffix(where, "-login.php") && strings.Contains(query, "action=logout"):
		return ids.watchLogout(r), false
	case (post || strings.Contains(query, "action=")) && userScreen(where) && r.Site.hasLoginCookie(r.HTTP):
		if phpvars.Has(query, "update") || phpvars.Has(query, "updated") {
			return nil, false // a redirect would say so, too
		}
		return ids.dropIf(r, screenSaved, dropping{whom: dropAll}), false
	case post && strings.HasSuffix(where, "-admin/admin-ajax.php") && r.Site.hasLoginCookie(r.HTTP):
		if action, _ := r.Call.FormValue("action"); action == "destroy-sessions" {
			return ids.dropIf(r, actionDone, userNamed(r)), true
		}
	}
	return nil, false
}

func (ids *Identities) watchLogout(r *Request) func(*Answer) {
	h := ids.cache.hasher.Load()
	session := sessionOf(h, r.HTTP, &r.Site.Platform)
	if session == "" {
		return nil
	}
	return ids.dropIf(r, func(a *Answer) bool { // without the right nonce the script asks back, and ends nothing
		return a.Status == http.StatusFound || a.Status == http.StatusSeeOther
	}, dropping{whom: dropSession, session: session, hasher: h.id})
}

// hasResetCookie tells whether r carries the cookie that holds the key to a new
// password, without which the login script sets none.
func hasResetCookie(r *http.Request) bool {
	for pair := range cookiePairs(r) {
		if name, _, _ := strings.Cut(pair, "="); strings.Contains(name, resetCookie) {
			return true
		}
	}
	return false
}

const resetCookie = "-resetpass-"

// passwordSet tells whether the login script has set a new password: it clears
// the cookie that holds the key to it, on the page that says so. Where the key is
// wrong it clears it too, and sends the client elsewhere.
func passwordSet(a *Answer) bool {
	if a.Status != http.StatusOK {
		return false
	}
	for _, line := range a.Header["Set-Cookie"] {
		c, err := http.ParseSetCookie(line)
		if err == nil && strings.Contains(c.Name, resetCookie) && (c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now())) {
			return true
		}
	}
	return false
}

// userScreen tells whether a path is one of the screens on which users are
// edited, below the admin directory of a site or a network.
func userScreen(where string) bool {
	dir, screen := path.Split(where)
	if !slices.Contains([]string{"profile.php", "user-edit.php", "users.php", "user-new.php"}, screen) {
		return false
	}
	dir = strings.TrimSuffix(strings.TrimSuffix(dir, "network/"), "user/")
	return strings.HasSuffix(dir, "-admin/")
}

// screenSaved tells whether a screen of users has done what it was asked: it
// then sends the client to one of them, with a word about it. Who may not see
// the screen is sent to the login form.
func screenSaved(a *Answer) bool {
	if a.Status != http.StatusFound && a.Status != http.StatusSeeOther {
		return false
	}
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !phpvars.Has(to.RawQuery, "update") && !phpvars.Has(to.RawQuery, "updated") {
		return false
	}
	return userScreen(to.Path) || userScreen("/-admin/"+to.Path) // relative to the screen
}

// actionDone tells whether an action of admin-ajax.php says that it worked. An
// answer that something has encoded says so to be safe.
func actionDone(a *Answer) bool {
	return a.Status == http.StatusOK && (a.Header.Get("Content-Encoding") != "" || bytes.Contains(a.Body, []byte(`"success":true`)))
}

// userNamed is whom the form of an action is about.
func userNamed(r *Request) dropping {
	text, _ := r.Call.FormValue("user_id")
	if id, ok := call.ParseID(text); ok {
		return dropping{whom: dropUser, user: id}
	}
	return dropping{whom: dropAll}
}

// watchCall knows writes to users and their application passwords (E4), and to
// the shop's customers, who are users. The user is whom the path names; where the
// platform might take the id from elsewhere everybody is asked about again.
func (ids *Identities) watchCall(r *Request, c *call.Call) func(*Answer) {
	if c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodOptions {
		return nil
	}
	rest, ok := strings.CutPrefix(c.Key, "/"+r.Site.Platform.Core+"/users/")
	if !ok {
		if rest, ok = r.Site.customer(c.Key); !ok || !changesRights(c) {
			return nil
		}
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

// customer returns what follows the route of the shop's customers in a key.
func (s *Site) customer(key string) (rest string, ok bool) {
	for _, ns := range s.Platform.Shop {
		if rest, ok = strings.CutPrefix(key, "/"+ns+"/customers/"); ok {
			return rest, true
		}
	}
	return "", false
}

// changesRights tells whether a write to a customer is about more than names and
// addresses, which shops keep up to date by the thousand.
func changesRights(c *call.Call) bool {
	if c.Method == http.MethodDelete {
		return true
	}
	for _, name := range []string{"password", "role"} {
		if _, set, err := c.Param(name); set || err != nil {
			return true
		}
	}
	return false
}

// dropIf drops what d covers where the answer shows that the request worked.
func (ids *Identities) dropIf(r *Request, worked func(*Answer) bool, d dropping) func(*Answer) {
	drop := ids.dropping(r, d)
	return func(a *Answer) {
		if worked(a) {
			drop(a)
		}
	}
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
