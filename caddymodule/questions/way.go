package questions

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/hosts"
)

// addresses holds the two addresses of a question. A rewrite before the gateway gives a client's
// request two, and back-ends receive different ones: php_fastcgi sends the client's own
// address as REQUEST_URI and runs the script of the current one.
type addresses struct {
	client  string // as a client would send it
	current string // as the rewrites would leave it
}

// addressesOf returns the addresses of q in the form of address that the client used. Bases and
// scripts come from the client, so wayOf checks them like any text of a client.
func addressesOf(q *ask.Question, prefix string) (addresses, error) {
	r := q.Rewritten
	if !PlainBase(q.Base) || r != nil && (!PlainBase(r.Client) || !PlainBase(r.Script)) {
		return addresses{}, errors.New("the client's path before the prefix is not plain") // without it: the log has no word of a client's
	}
	path, query := q.Target(prefix)
	current := withQuery(path, query)
	path, query = q.Client(prefix)
	return addresses{withQuery(path, query), current}, nil
}

// rewrite gives req, which has the client's address, the current one. Caddy must have
// prepared req, so that it knows the client's address, too.
func (w addresses) rewrite(req *http.Request) error {
	if w.current == w.client {
		return nil
	}
	current, err := url.Parse(w.current)
	if err != nil {
		return err
	}
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = current.Path, current.RawPath, current.RawQuery
	req.RequestURI = w.current
	return nil
}

// wantsSlash tells whether a redirects the question q to its own address with a slash behind the
// path, and to nowhere else. The host, but not scheme and port, must be the one that was asked:
// a server behind another one often knows neither. The question takes the route of the site
// again, so that its credentials go to no other address.
func (w addresses) wantsSlash(q *ask.Question, host string, a *ask.Answer) bool {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return false
	}
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || q.Page != "" || q.Form == call.Query || to.User != nil || to.Fragment != "" ||
		to.Host != "" && !strings.EqualFold(hosts.Name(to.Host), hosts.Name(host)) {
		return false
	}
	said := withQuery(to.EscapedPath(), to.RawQuery)
	for _, own := range []string{w.client, w.current} {
		path, query, _ := strings.Cut(own, "?")
		if !strings.HasSuffix(path, "/") && said == withQuery(path+"/", query) {
			return true
		}
	}
	return false
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// PlainBase tells whether s is "" or a path that stays the same when it is parsed.
func PlainBase(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && s[0] == '/' && u.Path != "" && u.EscapedPath() == s
}
