package site

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How long a login and a nonce are valid, as on the real platform.
const (
	loginLifetime = 48 * time.Hour
	nonceTick     = 12 * time.Hour
)

// loginCookie is the name of the cookie that says who is logged in.
func (s *Site) loginCookie() string { return s.names.AuthCookie + "logged_in_" + s.stamp("site")[:32] }

// newSession logs u in and returns the cookie of the session.
func (s *Site) newSession(u *user) (*http.Cookie, string) {
	session := s.token(24)
	expires := s.opt.Now().Add(loginLifetime)
	u.sessions[session] = expires
	value := s.cookieValue(u, strconv.FormatInt(expires.Unix(), 10), session)
	return &http.Cookie{
		Name: s.loginCookie(), Value: value, Path: s.loginCookiePath(), Domain: s.opt.CookieDomain, Expires: expires,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}, session
}

// cookieValue is login|expiration|token|hmac, with the bars percent-encoded as
// the platform sends them.
func (s *Site) cookieValue(u *user, expires, session string) string {
	mac := s.stamp("logged_in", u.login, expires, session)
	return strings.Join([]string{escape(u.login), expires, session, mac}, "%7C")
}

// cookieUser returns who a login cookie says is logged in, and the session.
// The first of several cookies of the name counts.
func (s *Site) cookieUser(r *http.Request) (u *user, session string) {
	c, err := r.Cookie(s.loginCookie())
	if err != nil {
		return nil, ""
	}
	parts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(c.Value, "%7C", "|"), "%7c", "|"), "|")
	if len(parts) != 4 {
		return nil, ""
	}
	for _, u := range s.users {
		if escape(u.login) != parts[0] {
			continue
		}
		until, alive := u.sessions[parts[2]]
		if alive && s.opt.Now().Before(until) && s.cookieValue(u, parts[1], parts[2]) == strings.Join(parts, "%7C") {
			return u, parts[2]
		}
	}
	return nil, ""
}

// nonce is the REST nonce of a session; without one, that of anonymous callers.
func (s *Site) nonce(u *user, session string) string { return s.nonceAt(s.tick(), u, session) }

func (s *Site) tick() int64 { return s.opt.Now().Unix() / int64(nonceTick/time.Second) }

func (s *Site) nonceAt(tick int64, u *user, session string) string {
	id := 0
	if u != nil {
		id = u.id
	}
	return s.stamp("rest", strconv.FormatInt(tick, 10), strconv.Itoa(id), session)[:10]
}

// validNonce accepts the nonces of the running and the previous tick.
func (s *Site) validNonce(nonce string, u *user, session string) bool {
	tick := s.tick()
	return equal(nonce, s.nonceAt(tick, u, session)) || equal(nonce, s.nonceAt(tick-1, u, session))
}

// Nonce logs a user in as the login form would and returns the login cookie
// and the nonce that the page after login shows. An unknown login has neither.
func (s *Site) Nonce(login string) (cookie *http.Cookie, nonce string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.userByLogin(login)
	if u == nil {
		return nil, ""
	}
	cookie, session := s.newSession(u)
	return cookie, s.nonce(u, session)
}

// serveLogin is the login form: it logs in, logs out and, for a user who is
// logged in, points to the dashboard.
func (s *Site) serveLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.FormValue("action") == "logout" {
		s.logout(w, r)
		return
	}
	if r.Method != http.MethodPost {
		s.render(w, r, http.StatusOK, "login", loginPage{})
		return
	}
	s.mu.Lock()
	u := s.userByLogin(r.PostFormValue("log"))
	if u == nil || !equal(u.password, r.PostFormValue("pwd")) {
		s.mu.Unlock()
		s.render(w, r, http.StatusOK, "login", loginPage{Error: "The username or password you entered is incorrect."})
		return
	}
	cookie, _ := s.newSession(u)
	s.mu.Unlock()
	http.SetCookie(w, cookie)
	admin := *cookie // the dashboard has a cookie of its own, for its own path
	admin.Name, admin.Path = strings.Replace(cookie.Name, "_logged_in_", "_", 1), s.adminCookiePath()
	http.SetCookie(w, &admin)
	http.Redirect(w, r, s.script("admin/"), http.StatusFound)
}

type loginPage struct{ Error string }

// logout ends the session of a user whose request carries the nonce of the
// logout link.
func (s *Site) logout(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	u, session := s.cookieUser(r)
	valid := u != nil && equal(r.FormValue(s.names.NonceParam), s.logoutNonce(u, session))
	if valid {
		delete(u.sessions, session)
	}
	s.mu.Unlock()
	if u != nil && !valid {
		s.die(w, http.StatusForbidden, "The link you followed has expired.")
		return
	}
	name := s.loginCookie()
	http.SetCookie(w, &http.Cookie{Name: name, Value: "%20", Path: s.loginCookiePath(), Domain: s.opt.CookieDomain, MaxAge: -1})
	http.SetCookie(w, &http.Cookie{
		Name: strings.Replace(name, "_logged_in_", "_", 1), Value: "%20",
		Path: s.adminCookiePath(), Domain: s.opt.CookieDomain, MaxAge: -1,
	})
	http.Redirect(w, r, s.script("login.php?loggedout=true"), http.StatusFound)
}

func (s *Site) logoutNonce(u *user, session string) string {
	return s.stamp("logout", u.login, session)[:10]
}
