package ask

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// Target returns path and query of q at a site with this REST prefix, in the form of
// address that q names, as the rewrites before the gateway would leave them.
func (q *Question) Target(prefix string) (path, query string) {
	switch {
	case q.Page != "":
		return q.Base + q.Page, q.query()
	case q.ByQuery:
		return q.Base + "/", q.routeInQuery()
	case q.Form != call.Query && q.Rewritten != nil && q.Rewritten.Script != "":
		return q.Rewritten.Script, q.query()
	case q.Form != call.Query:
		return q.Base + "/" + prefix + q.route(), q.query()
	}
	path = cmp.Or(q.Base, "/")
	if strings.HasSuffix(path, "/") && q.Method != "" && q.Method != http.MethodGet {
		path += "index.php" // for a directory some servers accept GET and POST only (docs/platform I.10, N15)
	}
	return path, q.routeInQuery()
}

// Client is Target as a client would send it. php_fastcgi hands this address on as
// REQUEST_URI.
func (q *Question) Client(prefix string) (path, query string) {
	switch r := q.Rewritten; {
	case r == nil || q.Page != "":
		return q.Target(prefix)
	case r.Pretty:
		return r.Client + "/" + prefix + q.route(), q.query()
	default:
		return cmp.Or(r.Client, "/"), q.routeInQuery()
	}
}

// route returns Route as it stands in a path.
func (q *Question) route() string {
	if q.Slash && !strings.HasSuffix(q.Route, "/") {
		return q.Route + "/"
	}
	return q.Route
}

func (q *Question) routeInQuery() string {
	query := "rest_route=" + url.QueryEscape(q.Route)
	if own := q.query(); own != "" {
		query += "&" + own
	}
	return query
}

// freshParam is the variable with Fresh. No route of the platform has it.
const freshParam = "restwarden"

// query returns Query with Fresh, and with the variable of Envelope.
func (q *Question) query() string {
	query := q.Query
	if q.Envelope {
		query = WithPair(query, envelopeParam+"=1")
	}
	if q.Fresh != "" {
		query = WithPair(query, freshParam+"="+q.Fresh)
	}
	return query
}

// WithPair returns a query with one more pair.
func WithPair(query, pair string) string {
	if query == "" {
		return pair
	}
	return query + "&" + pair
}
