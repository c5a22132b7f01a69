package site

import "net/http"

// install is the path that the platform's own scripts stand under: the site's sub-folder,
// unless the options name another one (docs/project/interface 5, rule 3).
func (s *Site) install() string {
	if s.opt.Install == "" {
		return s.opt.Base
	}
	return s.opt.Install
}

// script is the path of one of the platform's own scripts as a client asks for it.
func (s *Site) script(path string) string { return s.install() + s.names.script(path) }

// loginCookiePath and adminCookiePath are the paths of the two cookies of a login: the
// install path and its dashboard, unless settings name one for both (docs/project/interface 5,
// rules 3 and 4).
func (s *Site) loginCookiePath() string {
	if s.opt.CookiePath != "" {
		return s.opt.CookiePath
	}
	return s.install() + "/"
}

func (s *Site) adminCookiePath() string {
	if s.opt.CookiePath != "" {
		return s.opt.CookiePath
	}
	return s.script("admin")
}

// cookiesMiss tells whether login cookies are issued for a path that REST calls are not
// under. A browser sends none with a call then.
func (s *Site) cookiesMiss() bool {
	return s.install() != s.opt.Base && s.opt.CookiePath == ""
}

// messageLoginOnly is what the interface says with the code rest_not_logged_in
// (docs/project/interface 7).
const messageLoginOnly = "Only authenticated users can access the REST API."

// errNotLoggedIn refuses a call that needs a login and has none that counts. Real sites
// have other words for it (docs/platform II).
func (s *Site) errNotLoggedIn() *Error {
	message := messageLoginOnly
	if s.names.real() {
		message = "You are not currently logged in."
	}
	return fail(http.StatusUnauthorized, "rest_not_logged_in", message)
}

// lostLogin tells whether a login did not count: its cookie came without a nonce, or the
// cookies miss the REST calls. By the interface such a call is not logged in, whatever it
// asks for (docs/project/interface 5). Real sites take the caller for any anonymous one.
func (q *request) lostLogin() bool {
	return !q.site.names.real() && q.user == nil && (q.session != "" || q.site.cookiesMiss())
}
