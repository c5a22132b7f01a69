package ask

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// Target returns path and query of q at a site with this REST prefix, in the form of
// address that q names.
func (q *Question) Target(prefix string) (path, query string) {
	switch {
	case q.Page != "":
		return q.Base + q.Page, q.Query
	case q.Form != call.Query:
		return q.Base + "/" + prefix + q.Route, q.Query
	}
	path, query = q.Base, "rest_route="+url.QueryEscape(q.Route)
	if path == "" {
		path = "/"
	}
	if strings.HasSuffix(path, "/") && q.Method != "" && q.Method != http.MethodGet {
		path += "index.php" // for a directory some servers accept GET and POST only (docs/platform I.10, N15)
	}
	if q.Query != "" {
		query += "&" + q.Query
	}
	return path, query
}
