package main

import (
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// The kinds of requests, in the order of the table. Where the route stands says which of
// several places WordPress believes: the body of a POST, then the query, then the path.
var kinds = []string{
	"path, as documented",
	"path, another method on the wire",
	"path, in capitals",
	"path, with escapes",
	"path, behind a script",
	"path, written in another way",
	"query, as documented",
	"query, another method on the wire",
	"query, beside other variables",
	"query, on another page",
	"query, the name written in another way",
	"query, the route written in another way",
	"form body, as documented",
	"form body, beside other variables",
	"form body, written in another way",
	"multipart body, as documented",
	"multipart body, written in another way",
}

const (
	documented    = "as documented"
	anotherMethod = "another method on the wire"
	besideOthers  = "beside other variables"
	anotherWay    = "written in another way"
)

// kind says which kind of spelling of a call to route a request is.
func kind(r *grammar.Request, route string) string {
	path, query, _ := strings.Cut(r.Target, "?")
	urlencoded, multipart := false, false
	for _, f := range r.Fields {
		if r.Method == http.MethodPost && fieldName(f) == "Content-Type" {
			urlencoded, multipart = phpvars.FormKind(strings.TrimSpace(f.Value))
		}
	}
	switch {
	case multipart && strings.Contains(r.Body, route) && strings.Contains(r.Body, "route"):
		if strings.Contains(r.Body, "Content-Disposition: form-data; name=\"rest_route\"\r\n\r\n"+route+"\r\n") {
			return "multipart body, " + documented
		}
		return "multipart body, " + anotherWay
	case urlencoded && phpvars.Has(r.Body, "rest_route"):
		return "form body, " + formKind(r.Body, route)
	case phpvars.Has(query, "rest_route"):
		return "query, " + queryKind(r.Method, path, query, route)
	default:
		return "path, " + pathKind(r.Method, path, route)
	}
}

func formKind(body, route string) string {
	switch {
	case body == "rest_route="+route:
		return documented
	case named(body, route):
		return besideOthers
	}
	return anotherWay
}

// named tells whether some pair names the route as WordPress documents it.
func named(pairs, route string) bool {
	return strings.Contains("&"+pairs+"&", "&rest_route="+route+"&")
}

func queryKind(method, path, query, route string) string {
	switch {
	case !strings.Contains("&"+query, "&rest_route="):
		return "the name " + anotherWay
	case !named(query, route):
		return "the route " + anotherWay
	case path != "/" && path != "/index.php":
		return "on another page"
	case method != http.MethodGet:
		return anotherMethod
	case query != "rest_route="+route:
		return besideOthers
	}
	return documented
}

func pathKind(method, path, route string) string {
	plain := "/wp-json" + route
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.Contains(strings.ToLower(path), ".php"):
		return "behind a script"
	case strings.Contains(path, "%"):
		return "with escapes"
	case path == plain && method != http.MethodGet:
		return anotherMethod
	case path == plain:
		return documented
	case strings.EqualFold(path, plain):
		return "in capitals"
	}
	return anotherWay
}
