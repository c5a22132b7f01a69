package site

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// endpoint is one handler of a route: some methods, their arguments, who may,
// what runs.
type endpoint struct {
	methods []string
	args    args
	allow   func(*request) error        // nil lets everyone in
	run     func(*request) (any, error) // *reply, or what becomes JSON
}

// route is a registered pattern with its endpoints, in order.
type route struct {
	pattern    string
	literal    string // what every route that fits begins with, up to letter case
	namespace  string
	regexp     *regexp.Regexp
	endpoints  []*endpoint
	allowBatch bool
}

// router holds the routes in the order of their registration, which is the
// order in which they are tried (docs/platform I.1.3).
type router struct {
	routes     []*route
	byPattern  map[string]*route
	namespaces []string
}

// reading and editing are the method sets of the platform.
const (
	reading  = "GET"
	creating = "POST"
	editing  = "POST,PUT,PATCH"
	deleting = "DELETE"
	allVerbs = "GET,POST,PUT,PATCH,DELETE"
)

// add registers an endpoint under namespace and the rest of its pattern, which
// may hold named groups.
func (rt *router) add(namespace, rest, methods string, e endpoint) *route {
	if rt.byPattern == nil {
		rt.byPattern = map[string]*route{}
	}
	if !slices.Contains(rt.namespaces, namespace) && namespace != "" {
		rt.namespaces = append(rt.namespaces, namespace)
		rt.add(namespace, "", reading, endpoint{
			args: args{"namespace": {Type: "string", Default: namespace}}, run: namespaceIndex,
		})
	}
	pattern := "/" + namespace + rest
	r := rt.byPattern[pattern]
	if r == nil {
		// "$" of the platform also accepts one final newline.
		literal, _, _ := strings.Cut(pattern, "(")
		r = &route{
			pattern: pattern, literal: literal, namespace: namespace,
			regexp: regexp.MustCompile(`(?i)\A` + pattern + `\n?\z`),
		}
		rt.byPattern[pattern] = r
		rt.routes = append(rt.routes, r)
	}
	e.methods = strings.Split(methods, ",")
	r.endpoints = append(r.endpoints, &e)
	return r
}

// match returns the first route whose pattern and method both fit; HEAD falls
// back to GET.
func (rt *router) match(method, path string) (*route, *endpoint, obj) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for r, groups := range rt.fitting(path) {
		for _, e := range r.endpoints {
			if slices.Contains(e.methods, method) {
				return r, e, groups
			}
		}
	}
	return nil, nil, nil
}

// fitting yields the routes whose pattern fits, with their named groups.
func (rt *router) fitting(path string) func(yield func(*route, obj) bool) {
	return func(yield func(*route, obj) bool) {
		if !ascii(path) { // patterns match bytes: no Unicode folding
			return
		}
		for _, r := range rt.routes {
			if !hasPrefixFold(path, r.literal) {
				continue
			}
			m := r.regexp.FindStringSubmatch(path)
			if m == nil {
				continue
			}
			groups := obj{}
			for i, name := range r.regexp.SubexpNames() {
				if name != "" {
					groups[name] = m[i]
				}
			}
			if !yield(r, groups) {
				return
			}
		}
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 0x7e })
}

// dispatch runs q: route, arguments, permission, handler. It answers with a
// reply in every case.
func (s *Site) dispatch(q *request) *reply {
	rep := s.answer(q)
	maps.Copy(rep.header, q.reply)
	return rep
}

func (s *Site) answer(q *request) *reply {
	if err := s.fatal(q); err != nil {
		return replyOf(nil, err)
	}
	if q.method == http.MethodOptions {
		return s.describe(q)
	}
	r, e, groups := s.router.match(q.method, q.route)
	if r == nil {
		return replyOf(nil, errNoRoute())
	}
	q.endpoint, q.url = e, groups
	entry := Dispatch{Pattern: r.pattern, Route: q.route, Method: q.method, ID: q.objectID(), User: q.login()}
	rep := s.guarded(q, &entry)
	entry.Status = rep.status
	s.journal.add(entry)
	return rep
}

// guarded is dispatch from the arguments on; entry notes whether the handler ran.
func (s *Site) guarded(q *request, entry *Dispatch) *reply {
	if err := q.keyAllows(); err != nil {
		return replyOf(nil, err)
	}
	if q.invalid != nil {
		return replyOf(nil, q.invalid)
	}
	if err := q.endpoint.args.check(q); err != nil {
		return replyOf(nil, err)
	}
	if allow := q.endpoint.allow; allow != nil {
		if err := allow(q); err != nil {
			return replyOf(nil, err)
		}
	}
	entry.Ran = true
	return replyOf(q.endpoint.run(q))
}

// describe answers OPTIONS with the schema of the route; of a missing one with
// an empty list (docs/platform III.10).
func (s *Site) describe(q *request) *reply {
	for r := range s.router.fitting(q.route) {
		var methods []string
		for _, e := range r.endpoints {
			methods = append(methods, e.methods...)
		}
		q.reply.Set("Allow", strings.Join(methods, ", "))
		return replyOf(r.describe(), nil)
	}
	return replyOf([]any{}, nil)
}

// objectID is the id that the handler will see, for the journal.
func (q *request) objectID() string {
	for _, name := range []string{"order_id", "id", "user_id", "name"} {
		if _, named := q.url[name]; !named {
			continue
		}
		v, _ := q.param(name)
		if n, ok := integer(v); ok {
			return strconv.Itoa(n)
		}
		return text(v)
	}
	return ""
}

func (q *request) login() string {
	if q.user == nil {
		return ""
	}
	return q.user.login
}

// pathf builds a pattern's rest with a named number, such as /orders/(?P<id>[\d]+).
func pathf(format string, names ...any) string {
	for i, name := range names {
		names[i] = fmt.Sprintf(`(?P<%s>[\d]+)`, name)
	}
	return fmt.Sprintf(format, names...)
}
