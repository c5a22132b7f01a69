package site

import (
	"fmt"
	"net/http"
	"strings"
)

// restrict is the site's own restriction of REST to logged-in users. It refuses anonymous
// calls, except of the routes that its list leaves open (docs/project/interface 5, rule 1).
func (s *Site) restrict(q *request) error {
	if !s.opt.LoginOnly || q.user != nil || s.leftOpen(q.route) {
		return nil
	}
	return fail(http.StatusUnauthorized, "rest_not_logged_in", messageLoginOnly)
}

// leftOpen tells whether the list names route; the platform reads routes without regard
// to case.
func (s *Site) leftOpen(route string) bool {
	for _, open := range s.opt.LoginAllow {
		if strings.EqualFold(route, open) {
			return true
		}
	}
	return false
}

// checkLoginAllow returns an error for a route in the list that does not exist.
func (s *Site) checkLoginAllow() error {
	for _, open := range s.opt.LoginAllow {
		found := false
		for range s.router.fitting(open) {
			found = true
		}
		if !found {
			return fmt.Errorf("login-allow: no route %q", open)
		}
	}
	return nil
}
