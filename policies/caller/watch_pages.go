package caller

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// WatchedBody is how much of an answer's body a watch looks at.
const WatchedBody = 256

// watchPage recognizes the login script's actions, the screens of users, and the one
// admin-ajax.php action that ends sessions.
func (ids *Identities) watchPage(w *Whole) (drop func(*ask.Answer), body bool) {
	where, query, post := w.HTTP.URL.Path, w.HTTP.URL.RawQuery, w.HTTP.Method == http.MethodPost
	switch {
	case strings.Contains(where, ".php/"): // another script runs, whatever follows
	case strings.HasSuffix(where, "-login.php") && strings.Contains(query, "action=logout"):
		return ids.watchLogout(w), false
	case (post || strings.Contains(query, "action=")) && userScreen(where) && w.Site.hasLoginCookie(w.HTTP.Header):
		return ids.watchScreen(w), false
	case post && strings.HasSuffix(where, "-admin/admin-ajax.php") && w.Site.hasLoginCookie(w.HTTP.Header):
		if action, _ := w.Call.PostedValue("action"); action != "destroy-sessions" {
			return nil, false
		}
		text, _ := w.Call.PostedValue("user_id")
		return ids.dropUserIf(w, actionDone, text), true
	case post && hasResetCookie(w.HTTP):
		return ids.dropIf(w, passwordSet, dropping{whom: dropAll}), false
	}
	return nil, false
}

// watchScreen determines the user of a screen: on the screens of one user the user that the
// form names; on the other screens any user.
func (ids *Identities) watchScreen(w *Whole) func(*ask.Answer) {
	saved := func(a *ask.Answer) bool { return screenSaved(w.HTTP, a) }
	switch path.Base(w.HTTP.URL.Path) {
	case "profile.php", "user-edit.php": // on the latter, users may edit themselves too
		text, _, err := w.Call.Variable("user_id")
		if err != nil || changesEmail(w.HTTP.URL.RawQuery) {
			return nil
		}
		return ids.dropUserIf(w, saved, text)
	}
	return ids.dropIf(w, saved, dropping{whom: dropAll})
}

// changesEmail tells whether a profile confirms or gives up a new e-mail address of the
// caller's. It then saves nothing else, and no user that its form names.
func changesEmail(query string) bool {
	return phpvars.Has(query, "newuseremail") || phpvars.Has(query, "dismiss")
}

func (ids *Identities) watchLogout(w *Whole) func(*ask.Answer) {
	h := ids.cache.hasher.Load()
	session := sessionOf(h, w.HTTP.Header, &w.Site.Platform)
	if session == "" {
		return nil
	}
	return ids.dropIf(w, func(a *ask.Answer) bool { // without the right nonce the script asks again and ends nothing
		return a.Status == http.StatusFound || a.Status == http.StatusSeeOther
	}, dropping{whom: dropSession, session: session, hasher: h.id})
}

// hasResetCookie tells whether r carries the cookie with the key for a new password. The
// login script sets no password without it.
func hasResetCookie(r *http.Request) bool {
	for pair := range cookiePairs(r.Header) {
		if name, _, _ := strings.Cut(pair, "="); strings.Contains(name, resetCookie) {
			return true
		}
	}
	return false
}

const resetCookie = "-resetpass-"

// passwordSet tells whether a new password was set. The answer then clears the cookie
// with the key, either on the login script's page that says so or on the shop's redirect
// to its own page. After a wrong key the login script clears the cookie too, but
// redirects elsewhere.
func passwordSet(a *ask.Answer) bool {
	if a.Status != http.StatusOK {
		to, moved := movedTo(a)
		if !moved || !phpvars.Has(to.RawQuery, "password-reset") {
			return false
		}
	}
	for _, line := range a.Header["Set-Cookie"] {
		c, err := http.ParseSetCookie(line)
		if err == nil && strings.Contains(c.Name, resetCookie) && (c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now())) {
			return true
		}
	}
	return false
}

// movedTo returns the address to which an answer redirects after a form.
func movedTo(a *ask.Answer) (to *url.URL, moved bool) {
	if a.Status != http.StatusFound && a.Status != http.StatusSeeOther {
		return nil, false
	}
	to, err := url.Parse(a.Header.Get("Location"))
	return to, err == nil
}

// userScreen tells whether a path is one of the screens that edit users, below the admin
// directory of a site or a network.
func userScreen(where string) bool {
	dir, screen := path.Split(where)
	if !slices.Contains([]string{"profile.php", "user-edit.php", "users.php", "user-new.php"}, screen) {
		return false
	}
	dir = strings.TrimSuffix(strings.TrimSuffix(dir, "network/"), "user/")
	return strings.HasSuffix(dir, "-admin/")
}

// screenSaved tells whether a screen of users has saved. It then redirects to one of
// these screens with a message in the query. A client who may not see the screen is
// redirected to the login form; one with another spelling of the address, to the right one,
// with the client's own query. A message of the client's own counts only where the platform
// alone redirects so, relative to the screen, as after a second new user.
func screenSaved(r *http.Request, a *ask.Answer) bool {
	to, moved := movedTo(a)
	if !moved {
		return false
	}
	relative := to.Scheme == "" && to.Host == "" && !strings.HasPrefix(to.Path, "/")
	if !userScreen(to.Path) && (!relative || !userScreen("/-admin/"+to.Path)) {
		return false
	}
	for _, message := range []string{"update", "updated"} {
		if phpvars.Has(to.RawQuery, message) && (relative || !phpvars.Has(r.URL.RawQuery, message)) {
			return true
		}
	}
	return false
}

// actionDone tells whether an action of admin-ajax.php reports success.
func actionDone(a *ask.Answer) bool {
	return a.Status == http.StatusOK && bytes.Contains(plainBody(a), []byte(`"success":true`))
}

// plainBody returns the readable beginning of an answer's body.
func plainBody(a *ask.Answer) []byte {
	switch a.Header.Get("Content-Encoding") {
	case "":
		return a.Body
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(a.Body))
		if err != nil {
			return nil
		}
		plain, _ := io.ReadAll(io.LimitReader(z, WatchedBody)) // the body may be cut off
		return plain
	}
	return nil
}

// dropUserIf is dropIf for the user that a form names. The platform's own screens send
// nothing but a plain id.
func (ids *Identities) dropUserIf(w *Whole, worked func(*ask.Answer) bool, id string) func(*ask.Answer) {
	user, ok := call.ParseID(id)
	if !ok {
		return nil
	}
	return ids.dropIf(w, worked, dropping{whom: dropLogin, user: user})
}
