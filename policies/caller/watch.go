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

// Watch tells whether a request, if the platform answers that it worked, ends
// or changes somebody's rights; drop is then to be called with status and header
// of the answer, and with WatchedBody bytes of its body where body says so. It is
// nil for all other requests, and costs nothing on them. w.Call is a page or a call.
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

// enveloped tells whether the status of the answer says nothing: with this variable
// the platform answers 200 and writes the true status into the body.
func enveloped(c *call.Call) bool {
	_, set := c.QueryVariable("_envelope")
	return set
}

// tellsOfParts tells whether a batch that is answered with success can have changed
// anything: the shop judges its own as a whole, the core and the checkout part by
// part, so that everybody gets an answer.
func tellsOfParts(w *Whole) bool {
	if !strings.HasSuffix(w.Call.Key, "/v1/batch") && w.Call.Key != "/batch/v1" {
		return true
	}
	who, known := w.Known()
	return known && who.Kind == User
}

// WatchedBody is how much of an answer's body a watch looks at.
const WatchedBody = 256

// watchPage knows the login script's actions, the screens of users, and the one
// action of scripts that ends sessions.
func (ids *Identities) watchPage(w *Whole) (drop func(*ask.Answer), body bool) {
	where, query, post := w.HTTP.URL.Path, w.HTTP.URL.RawQuery, w.HTTP.Method == http.MethodPost
	switch {
	case strings.Contains(where, ".php/"): // no script of these, whatever follows
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

// watchScreen knows whom a screen of users is about: on the profile screen, which
// every user has, whom the form names, else anybody.
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
	return ids.dropIf(w, func(a *ask.Answer) bool { // without the right nonce the script asks back, and ends nothing
		return a.Status == http.StatusFound || a.Status == http.StatusSeeOther
	}, dropping{whom: dropSession, session: session, hasher: h.id})
}

// hasResetCookie tells whether r carries the cookie that holds the key to a new
// password, without which the login script sets none.
func hasResetCookie(r *http.Request) bool {
	for pair := range cookiePairs(r.Header) {
		if name, _, _ := strings.Cut(pair, "="); strings.Contains(name, resetCookie) {
			return true
		}
	}
	return false
}

const resetCookie = "-resetpass-"

// passwordSet tells whether a new password was set: the answer clears the cookie
// that holds the key to it, on the login script's page that says so, or on the
// shop's way to its own. Where the key is wrong the login script clears it too, and
// sends the client elsewhere.
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

// movedTo returns where an answer sends the client after a form.
func movedTo(a *ask.Answer) (to *url.URL, moved bool) {
	if a.Status != http.StatusFound && a.Status != http.StatusSeeOther {
		return nil, false
	}
	to, err := url.Parse(a.Header.Get("Location"))
	return to, err == nil
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
// then sends the client to one of them, with a word about it. Who may not see the
// screen is sent to the login form, and who came by the wrong host or scheme to the
// same address at another.
func screenSaved(r *http.Request, a *ask.Answer) bool {
	to, moved := movedTo(a)
	if !moved || strings.HasSuffix(a.Header.Get("Location"), r.URL.RequestURI()) {
		return false
	}
	said := phpvars.Has(to.RawQuery, "update") || phpvars.Has(to.RawQuery, "updated")
	return said && (userScreen(to.Path) || userScreen("/-admin/"+to.Path)) // relative to the screen
}

// actionDone tells whether an action of admin-ajax.php says that it worked.
func actionDone(a *ask.Answer) bool {
	return a.Status == http.StatusOK && bytes.Contains(plainBody(a), []byte(`"success":true`))
}

// plainBody returns what can be read of the beginning of an answer's body.
func plainBody(a *ask.Answer) []byte {
	switch a.Header.Get("Content-Encoding") {
	case "":
		return a.Body
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(a.Body))
		if err != nil {
			return nil
		}
		plain, _ := io.ReadAll(io.LimitReader(z, WatchedBody)) // it may be cut off
		return plain
	}
	return nil
}

// watchCall knows writes to users and their application passwords (E4), and to
// the shop's customers, who are users. The user is whom the path names; where the
// platform might take the id from elsewhere everybody is asked about again.
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

// dropUserIf is dropIf for the user whom a form names. Any other text than a plain
// id is not what the platform's own screens send.
func (ids *Identities) dropUserIf(w *Whole, worked func(*ask.Answer) bool, id string) func(*ask.Answer) {
	user, ok := call.ParseID(id)
	if !ok {
		return nil
	}
	return ids.dropIf(w, worked, dropping{whom: dropUser, user: user})
}

// dropIf drops what d covers where the answer shows that the request worked.
func (ids *Identities) dropIf(w *Whole, worked func(*ask.Answer) bool, d dropping) func(*ask.Answer) {
	drop := ids.dropping(w, d)
	return func(a *ask.Answer) {
		if worked(a) {
			drop(a)
		}
	}
}

// dropping returns what is done once the platform has answered r.
func (ids *Identities) dropping(w *Whole, d dropping) func(*ask.Answer) {
	ctx, store := context.WithoutCancel(w.HTTP.Context()), w.Site.Store
	return ask.OnSuccess(func() { ids.drop(ctx, store, d) })
}
