package caller

import (
	"bytes"
	"compress/gzip"
	"context"
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

// Watch tells whether a request, if the platform answers that it worked, ends or changes
// somebody's rights. If so, drop must be called with status and header of the answer, and
// if body is true with the first WatchedBody bytes of the body. For all other requests
// drop is nil and Watch costs nothing. w.Call is a page or a call.
func (ids *Identities) Watch(w *Whole) (drop func(*ask.Answer), body bool) {
	switch w.Call.Kind {
	case call.Page:
		return ids.watchPage(w)
	case call.Single:
		if enveloped(w.Call) {
			return nil, false
		}
		return ids.watchCall(w, w.Call), false
	case call.Batch:
		if enveloped(w.Call) || !tellsOfParts(w) {
			return nil, false
		}
		for _, part := range w.Call.Parts {
			if ids.watchCall(w, part) != nil {
				return ids.dropping(w, dropping{whom: dropAll}), false
			}
		}
	case call.Refused: // it never reaches the platform
	}
	return nil, false
}

// enveloped tells whether the status of the answer is always 200: with this variable the
// platform writes the true status into the body.
func enveloped(c *call.Call) bool {
	_, set := c.QueryVariable("_envelope")
	return set
}

// tellsOfParts tells whether a success of a batch can mean that a part changed anything.
// The shop judges its batches as a whole. The core and the checkout judge part by part and
// answer everybody with success, so only the batch of a known user counts.
func tellsOfParts(w *Whole) bool {
	if !strings.HasSuffix(w.Call.Key, "/v1/batch") && w.Call.Key != "/batch/v1" {
		return true
	}
	who, known := w.Known()
	return known && who.Kind == User
}

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

// watchScreen determines the user of a screen: on the profile screen, which every user
// has, the user that the form names; on the other screens any user.
func (ids *Identities) watchScreen(w *Whole) func(*ask.Answer) {
	saved := func(a *ask.Answer) bool { return screenSaved(w.HTTP, a) }
	if strings.HasSuffix(w.HTTP.URL.Path, "/profile.php") {
		text, _, err := w.Call.Variable("user_id")
		if err != nil {
			return nil
		}
		return ids.dropUserIf(w, saved, text)
	}
	return ids.dropIf(w, saved, dropping{whom: dropAll})
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
// redirected to the login form; a client with the wrong host or scheme, to the same
// address at the right one.
func screenSaved(r *http.Request, a *ask.Answer) bool {
	to, moved := movedTo(a)
	if !moved || strings.HasSuffix(a.Header.Get("Location"), r.URL.RequestURI()) {
		return false
	}
	said := phpvars.Has(to.RawQuery, "update") || phpvars.Has(to.RawQuery, "updated")
	return said && (userScreen(to.Path) || userScreen("/-admin/"+to.Path)) // relative to the screen
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

// watchCall recognizes writes to users, to their application passwords (E4), and to the
// shop's customers, who are users. It drops the user that the path names, or all users if
// the platform may take the id from elsewhere.
func (ids *Identities) watchCall(w *Whole, c *call.Call) func(*ask.Answer) {
	if c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodOptions {
		return nil
	}
	rest, ok := strings.CutPrefix(c.Key, "/"+w.Site.Platform.Core+"/users/")
	if !ok {
		if rest, ok = w.Site.customer(c.Key); !ok || !changesRights(c) {
			return nil
		}
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "me" {
		if who, known := w.Known(); known && who.ID != 0 {
			return ids.dropping(w, dropping{whom: dropUser, user: who.ID})
		}
		return ids.dropping(w, dropping{whom: dropAll})
	}
	param := "id"
	if strings.Contains(rest, "/application-passwords") {
		param = "user_id"
	}
	id, err := c.ID(param, name)
	if err != nil {
		return ids.dropping(w, dropping{whom: dropAll})
	}
	return ids.dropping(w, dropping{whom: dropUser, user: id})
}

// customer returns the rest of key after the route of the shop's customers.
func (s *Site) customer(key string) (rest string, ok bool) {
	for _, ns := range s.Platform.Shop {
		if rest, ok = strings.CutPrefix(key, "/"+ns+"/customers/"); ok {
			return rest, true
		}
	}
	return "", false
}

// changesRights tells whether a write to a customer changes more than names and
// addresses, which shops update by the thousand.
func changesRights(c *call.Call) bool {
	if c.Method == http.MethodDelete {
		return true
	}
	for _, name := range []string{"password", "role"} {
		if _, set, err := c.Scalar(name); set || err != nil {
			return true
		}
	}
	return false
}

// dropUserIf is dropIf for the user that a form names. The platform's own screens send
// nothing but a plain id.
func (ids *Identities) dropUserIf(w *Whole, worked func(*ask.Answer) bool, id string) func(*ask.Answer) {
	user, ok := call.ParseID(id)
	if !ok {
		return nil
	}
	return ids.dropIf(w, worked, dropping{whom: dropUser, user: user})
}

// dropIf returns a function that drops what d covers if the answer shows success.
func (ids *Identities) dropIf(w *Whole, worked func(*ask.Answer) bool, d dropping) func(*ask.Answer) {
	drop := ids.dropping(w, d)
	return func(a *ask.Answer) {
		if worked(a) {
			drop(a)
		}
	}
}

// dropping returns a function that drops what d covers, whatever the answer.
func (ids *Identities) dropping(w *Whole, d dropping) func(*ask.Answer) {
	ctx, store := context.WithoutCancel(w.HTTP.Context()), w.Site.Store
	return ask.OnSuccess(func() { ids.drop(ctx, store, d) })
}
