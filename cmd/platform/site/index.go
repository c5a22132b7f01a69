package site

import (
	"net/http"
	"strings"
)

// index is the REST root (docs/project/interface E1).
func index(q *request) (any, error) {
	s := q.site
	routes := obj{}
	for _, r := range s.router.routes {
		routes[r.pattern] = s.linked(q, r)
	}
	return obj{
		"name": "Reference shop", "description": "A site in memory", "url": s.origin(q.wire) + s.install(), "home": s.homeURL(q.wire),
		"gmt_offset": "0", "timezone_string": "", "namespaces": s.router.namespaces,
		"authentication": obj{"application-passwords": obj{"endpoints": obj{
			"authorization": s.origin(q.wire) + s.script("admin/authorize-application.php"),
		}}},
		"routes": routes,
	}, nil
}

// namespaceIndex lists the routes of one namespace: that of the effective
// parameter, which defaults to the path's (docs/platform I.3).
func namespaceIndex(q *request) (any, error) {
	s, namespace := q.site, q.str("namespace")
	routes := obj{}
	for _, r := range s.router.routes {
		if r.namespace == namespace && namespace != "" {
			routes[r.pattern] = s.linked(q, r)
		}
	}
	if len(routes) == 0 {
		return nil, fail(http.StatusNotFound, "rest_invalid_namespace", "The specified namespace could not be found.")
	}
	return obj{"namespace": namespace, "routes": routes}, nil
}

// linked is a route's description; one without parameters has its address.
func (s *Site) linked(q *request, r *route) obj {
	o := r.describe()
	if !strings.Contains(r.pattern, "(?P") {
		o["_links"] = obj{"self": []obj{{"href": s.restURL(q.wire, r.pattern)}}}
	}
	return o
}
