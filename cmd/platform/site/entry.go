package site

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// ServeHTTP answers one request: the platform's own scripts, files, REST calls
// in both addressing forms, and pages.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path, ok := under(s.install(), r.URL.EscapedPath()); ok && s.serveScript(w, r, path) {
		return
	}
	path, ok := under(s.opt.Base, r.URL.EscapedPath())
	if !ok {
		http.NotFound(w, r) // the web server has nothing outside the sub-folder
		return
	}
	in, err := readInput(r)
	if err != nil {
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	if in.mismatch(s.opt.Permalinks == "plain") {
		s.die(w, http.StatusBadRequest, "A variable mismatch has been detected.")
		return
	}
	route, isREST, err := s.restRoute(path, in)
	switch {
	case err != nil:
		s.die(w, http.StatusBadRequest, "Invalid REST API route.")
	case s.opt.Fault == faultFirewall && (isREST || s.prettyREST(path)):
		http.Error(w, "Forbidden", http.StatusForbidden)
	case isREST:
		s.serveREST(w, r, in, route)
	default:
		s.servePage(w, r, in, path)
	}
}

// under returns what follows folder in path.
func under(folder, path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, folder)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// restRoute is the route of a REST request: form body before query before path
// (docs/platform I.1.2). A value that is set but empty or "0" means no REST;
// a list is an error.
func (s *Site) restRoute(path string, in *input) (route string, isREST bool, err error) {
	if v, set := in.variable("rest_route"); set {
		value, ok := v.(string)
		if !ok {
			return "", false, errInvalidRoute
		}
		return strip(value), value != "" && value != "0", nil
	}
	route, isREST = s.prettyRoute(path)
	return route, isREST, nil
}

var errInvalidRoute = fail(http.StatusBadRequest, "rest_path_invalid_type", "The REST route parameter must be a string.")

// prettyRoute applies the rewrite rules: on the raw path, and only where none
// fits on the decoded one (docs/platform I.1.4).
func (s *Site) prettyRoute(path string) (route string, ok bool) {
	if s.opt.Permalinks == "plain" || s.staleRewrites.Load() {
		return "", false
	}
	if m := s.rewritten(path); m != nil {
		return strip("/" + m[1]), true
	}
	return "", false
}

func (s *Site) rewritten(path string) []string {
	raw := strings.Trim(path, "/")
	if m := s.rewrite.FindStringSubmatch(raw); m != nil {
		return m
	}
	decoded, err := url.QueryUnescape(raw)
	if err != nil {
		return nil
	}
	return s.rewrite.FindStringSubmatch(decoded)
}

// rewriteRule matches a trimmed path under the REST prefix; what is captured
// ends at a newline, as "." does in the platform's rule.
func rewriteRule(prefix string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:index\.php/)?` + regexp.QuoteMeta(prefix) + `(?:/(.*)|\z)`)
}

// prettyREST tells whether path lies under the REST prefix, whatever the
// permalinks are.
func (s *Site) prettyREST(path string) bool { return s.rewritten(path) != nil }

// strip removes what the platform removes at a route's end; nothing left is the
// root (docs/platform I.1.3).
func strip(route string) string {
	route = strings.TrimRight(route, `/\`)
	if route == "" || route == "0" {
		return "/"
	}
	return route
}
