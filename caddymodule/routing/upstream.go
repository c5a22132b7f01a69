package routing

import (
	"cmp"
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/fastcgi"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// upstream is what a handler leads to: a server, or scripts in a root. It may be several:
// names and roots then stand on lines of their own.
type upstream struct {
	name  string // as the configuration has it
	root  string // of scripts; "" until the way is known
	php   bool   // root tells scripts apart
	local bool   // an answer of Caddy's own, which stands for a platform in its site alone
}

// lead is a handler that leads to an upstream, and what it does to requests.
type lead struct {
	upstream
	// forwarded says that requests carry an address that the client's headers name.
	forwarded bool
	alters    []alteration
}

// proxied is what this package needs of a reverse_proxy.
type proxied struct {
	Transport json.RawMessage `json:"transport"`
	Upstreams []struct {
		Dial string `json:"dial"`
	} `json:"upstreams"`
	DynamicUpstreams json.RawMessage `json:"dynamic_upstreams"`
	Headers          struct {
		Request headerOps `json:"request"`
	} `json:"headers"`
	Rewrite        rewriting                   `json:"rewrite"`
	HandleResponse []caddyhttp.ResponseHandler `json:"handle_response"`
}

// toScripts returns where FrankenPHP's handler leads to.
func toScripts(s step) *lead {
	var php struct {
		Root string            `json:"root"`
		Env  map[string]string `json:"env"`
	}
	_ = jsonv1.Unmarshal(s.json(), &php)
	return &lead{upstream: upstream{name: "php", root: php.Root, php: true}, alters: environment(php.Env)}
}

// toProxied returns where a reverse_proxy leads to; nil if requests there are not the client's.
func toProxied(s step) *lead {
	var p proxied
	_ = jsonv1.Unmarshal(s.json(), &p)
	if p.asks() {
		return nil
	}
	l := new(lead)
	var names []string
	for _, to := range p.Upstreams {
		names = append(names, to.Dial)
	}
	if len(p.DynamicUpstreams) > 0 {
		names = append(names, dynamic(p.DynamicUpstreams)...)
	}
	loaded, _ := s.module.(*reverseproxy.Handler)
	if loaded != nil {
		if from, ok := loaded.DynamicUpstreams.(*reverseproxy.AUpstreams); ok {
			names = append(names, net.JoinHostPort(from.Name, cmp.Or(from.Port, "80")))
		}
	}
	l.name = strings.Join(names, "\n")
	env := l.transport(p.Transport, loaded)
	for _, set := range []map[string]json.RawMessage{p.Headers.Request.Set, p.Headers.Request.Add} {
		for field, values := range set {
			forwarding := strings.EqualFold(field, "X-Forwarded-For") || strings.EqualFold(field, "X-Real-Ip")
			l.forwarded = l.forwarded || forwarding && strings.Contains(string(values), "{http.request.header.")
		}
	}
	l.alters = slices.Concat(p.Rewrite.alterations(), p.Headers.Request.alterations("header_up"), environment(env))
	return l
}

// dynamic returns the servers that dynamic upstreams name: those of "dynamic a" are the same
// as upstreams of that name and port. What is of another kind stands for itself.
func dynamic(raw json.RawMessage) []string {
	var from struct {
		Source  string            `json:"source"`
		Name    string            `json:"name"`
		Port    string            `json:"port"`
		Sources []json.RawMessage `json:"sources"`
	}
	_ = jsonv1.Unmarshal(raw, &from)
	switch from.Source {
	case "a":
		return []string{net.JoinHostPort(from.Name, cmp.Or(from.Port, "80"))}
	case "multi":
		var found []string
		for _, one := range from.Sources {
			found = append(found, dynamic(one)...)
		}
		return found
	}
	return []string{string(raw)}
}

// asks tells whether requests only ask the upstream, as forward_auth does, and pass on if
// its answer is a success.
func (p *proxied) asks() bool {
	return p.Rewrite.URI != "" && slices.ContainsFunc(p.HandleResponse, func(h caddyhttp.ResponseHandler) bool {
		return h.Match == nil || len(h.Match.StatusCode) == 0 || slices.ContainsFunc(h.Match.StatusCode, func(code int) bool { return code == 2 || code/100 == 2 })
	})
}

// transport takes the root of scripts from the transport, and returns the variables that it sets.
func (u *upstream) transport(raw json.RawMessage, loaded *reverseproxy.Handler) (env map[string]string) {
	if loaded != nil {
		if t, ok := loaded.Transport.(*fastcgi.Transport); ok {
			u.php, u.root = true, t.Root
			return t.EnvVars
		}
		return nil
	}
	var t struct {
		Protocol string            `json:"protocol"`
		Root     string            `json:"root"`
		Env      map[string]string `json:"env"`
	}
	_ = jsonv1.Unmarshal(raw, &t)
	if t.Protocol != "fastcgi" {
		return nil
	}
	u.php, u.root = true, t.Root
	return t.Env
}

// varsRoot is the root that a handler names, "" if it is the site's.
func varsRoot(root string) string {
	if root == "" || root == "{http.vars.root}" {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(root)) // also on Windows, which has both slashes
}

// loopback are the hosts that stand for this machine.
var loopback = []string{"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}

// addresses writes an upstream's address in one way. A range of ports is many addresses.
func addresses(dial string) []string {
	at, err := caddy.ParseNetworkAddress(dial)
	switch {
	case strings.ContainsAny(dial, "{\"") || err != nil:
		return []string{strings.ToLower(dial)}
	case at.IsUnixNetwork():
		if path, ok := strings.CutPrefix(at.Host, "/var/run/"); ok {
			return []string{"unix//run/" + path} // Linux has /var/run as a link to /run
		}
		return []string{"unix/" + at.Host}
	}
	host := strings.ToLower(at.Host)
	if slices.Contains(loopback, host) {
		host = "127.0.0.1"
	}
	var found []string
	for i := range min(at.PortRangeSize(), maxPorts) {
		found = append(found, net.JoinHostPort(host, strconv.FormatUint(uint64(at.StartPort+i), 10)))
	}
	return found
}

// maxPorts bounds how many ports of a range are looked at.
const maxPorts = 1000

// each returns the servers of u, each by itself.
func (u *upstream) each() []upstream {
	var found []upstream
	for name := range strings.SplitSeq(u.name, "\n") {
		for root := range strings.SplitSeq(u.root, "\n") {
			found = append(found, upstream{name: name, root: root, php: u.php, local: u.local})
		}
	}
	return found
}

// on returns u as it is on a way where the root and the values have been set.
func (u *upstream) on(root string, vs values) upstream {
	there := *u
	if there.local {
		return there
	}
	var names, roots []string
	for name := range strings.SplitSeq(u.name, "\n") {
		for _, dial := range vs.of(name) {
			names = append(names, addresses(dial)...)
		}
	}
	slices.Sort(names)
	there.name = strings.Join(slices.Compact(names), "\n")
	if !there.php {
		return there
	}
	if varsRoot(there.root) == "" {
		there.root = root
	}
	for _, dir := range vs.of(there.root) {
		roots = append(roots, varsRoot(dir))
	}
	there.root = strings.Join(roots, "\n")
	return there
}

func (u *upstream) String() string {
	name := strings.ReplaceAll(u.name, "\n", " ")
	if u.php && u.root != "" {
		return name + " with root " + strings.ReplaceAll(u.root, "\n", " ")
	}
	return name
}
