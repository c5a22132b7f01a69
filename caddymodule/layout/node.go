package layout

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// node is a route with its matchers and handlers, read once.
type node struct {
	group    string
	terminal bool
	sets     [][]*matcher
	hosts    []string // see hostsOf
	handlers []*handler
	falls    bool // it rewrites paths that are no files to a script, as php_fastcgi does
}

// handler is one handler of a route, with what matters for requests' ways.
type handler struct {
	name      string
	directive *Directive
	invokes   string
	errors    bool // its last branch handles errors of the first
	branches  []nodeBranch
	// answers says that it never passes a request on, except from its branches.
	answers bool
	plain   bool // the answer is a redirect or a refusal of its own: it leads nowhere
	changes parts
	root    string // that it sets
	alters  []alteration
	fails   bool  // it may fail
	status  int   // … with this status; 0 stands for any
	leads   *lead // to which it leads
	sets    values
}

type nodeBranch struct {
	routes []*node
	errors bool
}

// reader reads routes. It knows the name of the directives' handler.
type reader struct {
	handler    string
	directives []*Directive
}

func (d *reader) nodes(routes caddyhttp.RouteList) []*node {
	found := make([]*node, len(routes))
	for i := range routes {
		found[i] = d.node(&routes[i])
	}
	return found
}

func (d *reader) node(route *caddyhttp.Route) *node {
	n := &node{group: route.Group, terminal: route.Terminal, sets: matcherSets(route), hosts: hostsOf(route)}
	for _, s := range steps(route) {
		n.handlers = append(n.handlers, d.read(s))
	}
	n.falls = fallsBack(n)
	return n
}

func (d *reader) read(s step) *handler {
	h := &handler{name: s.name}
	if s.name == d.handler {
		h.directive = readDirective(s)
		d.directives = append(d.directives, h.directive)
		h.changes = other // of parameters
		return h
	}
	h.alters, h.sets = alterationsOf(s), valuesOf(s)
	h.status, h.fails = failsWith(s)
	switch s.name {
	case "subroute":
	case "invoke":
		h.fails = false // the route within it may
		h.invokes = decoded[caddyhttp.Invoke](s).Name
		return h
	case "static_response":
		h.static(decoded[caddyhttp.StaticResponse](s))
		return h
	case "error", "metrics", "copy_response":
		h.answers = true
		return h
	case "file_server":
		h.answers = !decoded[struct {
			PassThru bool `json:"pass_thru"`
		}](s).PassThru && !passesThrough(s.module)
		return h
	case "vars":
		h.changes = other
		if root, ok := (*decoded[caddyhttp.VarsMiddleware](s))["root"].(string); ok {
			h.root = root
		}
		return h
	case "headers":
		h.changes = changesOfHeaders(s)
		return h
	case "rewrite":
		h.changes = path | other
		return h
	case "encode", "log_append", "tracing", "templates", "request_body", "push", "timeouts", "copy_response_headers":
		return h
	case "authentication", "map", "intercept":
		h.changes = other
	case "reverse_proxy", "php":
		h.leads, h.answers, h.changes = leadOf(s), true, other
	default:
		h.changes = everything
	}
	for _, b := range s.branches() {
		h.branches = append(h.branches, nodeBranch{d.nodes(b.routes), b.errors})
		h.errors = h.errors || b.errors
	}
	return h
}

func (h *handler) static(s *caddyhttp.StaticResponse) {
	status := string(s.StatusCode)
	// 103 is no final answer, and a placeholder may say so
	h.answers = s.Abort || status != "103" && !strings.Contains(status, "{")
	if !s.Abort && (status == "" || strings.HasPrefix(status, "2")) {
		h.leads = &lead{upstream: upstream{name: "respond", local: true}}
		return
	}
	h.plain = true
}

// by names the handler as a Caddyfile does.
func (h *handler) by() string {
	if h.name == "static_response" {
		return "a redir, respond or abort"
	}
	return h.name
}

func changesOfHeaders(s step) parts {
	var headers struct {
		Request json.RawMessage `json:"request"`
	}
	_ = jsonv1.Unmarshal(s.json(), &headers)
	switch text := strings.ToLower(string(headers.Request)); {
	case text == "" || text == "null":
		return 0
	case strings.Contains(text, `"host"`) || strings.Contains(text, `"{`): // a placeholder may name any field
		return host | other
	}
	return other
}

// noFile is the matcher, of this package's own, that holds for requests whose path is no
// file.
const noFile = "no file"

// fallsBack tells whether n is the route with which php_fastcgi sends every path that is
// no file to a script.
func fallsBack(n *node) bool {
	if len(n.handlers) != 1 || n.handlers[0].name != "rewrite" || len(n.sets) != 1 || len(n.sets[0]) != 1 || n.sets[0][0].kind != "file" {
		return false
	}
	var file struct {
		TryFiles  []string `json:"try_files"`
		TryPolicy string   `json:"try_policy"`
	}
	_ = jsonv1.Unmarshal(n.sets[0][0].raw, &file)
	if file.TryPolicy != "first_exist_fallback" || slices.ContainsFunc(file.TryFiles, func(f string) bool { return strings.HasPrefix(f, "=") }) {
		return false
	}
	return len(file.TryFiles) > 0 && strings.HasSuffix(file.TryFiles[len(file.TryFiles)-1], ".php")
}

// isScript tells whether n is for scripts alone.
func (n *node) isScript() bool {
	return len(n.sets) == 1 && len(n.sets[0]) == 1 && n.sets[0][0].kind == "path" &&
		slices.Contains(n.sets[0][0].paths, "*.php")
}
