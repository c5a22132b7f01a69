package caddymodule

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// way holds the two addresses of a question. A rewrite before the gateway gives a client's
// request two, and back-ends receive different ones: php_fastcgi sends the client's own
// address as REQUEST_URI and runs the script of the current one.
type way struct {
	client  string // as a client would send it
	current string // as the rewrites would leave it
}

// wayOf returns the addresses of q in the form of address that the client used. Bases and
// scripts come from the client, so wayOf checks them like any text of a client.
func wayOf(q *ask.Question, prefix string) (way, error) {
	r := q.Rewritten
	if !plainBase(q.Base) || r != nil && (!plainBase(r.Client) || !plainBase(r.Script)) {
		return way{}, errors.New("the client's path before the prefix is not plain") // without it: the log has no word of a client's
	}
	var current string
	switch {
	case q.Page != "":
		current = withQuery(q.Base+q.Page, q.Query)
	case q.Form == call.Query:
		current = queryForm(forWriting(q.Base, q.Method), q)
	case r != nil && r.Script != "":
		current = withQuery(r.Script, q.Query)
	default:
		current = prettyForm(q.Base, prefix, q)
	}
	switch {
	case r == nil || q.Page != "":
		return way{current, current}, nil
	case r.Pretty:
		return way{prettyForm(r.Client, prefix, q), current}, nil
	}
	return way{queryForm(r.Client, q), current}, nil
}

// rewrite gives req, which has the client's address, the current one. Caddy must have
// prepared req, so that it knows the client's address, too.
func (w way) rewrite(req *http.Request) error {
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

func prettyForm(base, prefix string, q *ask.Question) string {
	return withQuery(base+"/"+prefix+q.Route, q.Query)
}

func queryForm(path string, q *ask.Question) string {
	target := orDefault(path, "/") + "?rest_route=" + url.QueryEscape(q.Route)
	if q.Query != "" {
		target += "&" + q.Query
	}
	return target
}

// forWriting returns the path for a question in the query form. For a directory some
// servers accept GET and POST only (docs/platform I.10, N15).
func forWriting(path, method string) string {
	if path = orDefault(path, "/"); strings.HasSuffix(path, "/") && method != "" && method != http.MethodGet {
		path += "index.php"
	}
	return path
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// plainBase tells whether s is "" or a path that stays the same when it is parsed.
func plainBase(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && s[0] == '/' && u.Path != "" && u.EscapedPath() == s
}
