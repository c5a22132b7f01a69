package layout

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/fastcgi"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// upstream is what a handler leads to: a server, or scripts in a root.
type upstream struct {
	name  string // as the configuration has it
	root  string // of scripts; "" until the way is known
	php   bool   // root tells scripts apart
	local bool   // an answer of Caddy's own, which stands for a platform in its site alone
	// forwarded says that requests carry an address that the client's headers name.
	forwarded bool
}

// proxied is what this package needs of a reverse_proxy.
type proxied struct {
	Transport json.RawMessage `json:"transport"`
	Upstreams []struct {
		Dial string `json:"dial"`
	} `json:"upstreams"`
	DynamicUpstreams json.RawMessage `json:"dynamic_upstreams"`
	Headers          struct {
		Request struct {
			Set map[string][]string `json:"set"`
			Add map[string][]string `json:"add"`
		} `json:"request"`
	} `json:"headers"`
	Rewrite struct {
		URI string `json:"uri"`
	} `json:"rewrite"`
	HandleResponse []caddyhttp.ResponseHandler `json:"handle_response"`
}

// upstreamOf returns what a handler leads to; nil if requests there are not the client's.
func upstreamOf(s step) *upstream {
	if s.name == "php" {
		raw := s.raw
		if s.module != nil {
			raw, _ = json.Marshal(s.module)
		}
		var php struct {
			Root string `json:"root"`
		}
		_ = jsonv1.Unmarshal(raw, &php)
		return &upstream{name: "php", root: varsRoot(php.Root), php: true}
	}
	raw := s.raw
	loaded, _ := s.module.(*reverseproxy.Handler)
	if loaded != nil {
		raw, _ = json.Marshal(loaded)
	}
	var p proxied
	_ = jsonv1.Unmarshal(raw, &p)
	if p.Rewrite.URI != "" && len(p.HandleResponse) > 0 {
		return nil // as forward_auth asks
	}
	u := new(upstream)
	var names []string
	for _, to := range p.Upstreams {
		names = append(names, address(to.Dial))
	}
	if len(names) == 0 && len(p.DynamicUpstreams) > 0 {
		names = append(names, string(p.DynamicUpstreams))
	}
	slices.Sort(names)
	u.name = strings.Join(names, "\n")
	u.transport(p.Transport, loaded)
	for _, set := range []map[string][]string{p.Headers.Request.Set, p.Headers.Request.Add} {
		for field, values := range set {
			u.forwarded = u.forwarded || isForwarding(field) && slices.ContainsFunc(values, func(v string) bool {
				return strings.Contains(v, "{http.request.header.")
			})
		}
	}
	return u
}

func isForwarding(field string) bool {
	return strings.EqualFold(field, "X-Forwarded-For") || strings.EqualFold(field, "X-Real-Ip")
}

// transport takes the root of scripts from the transport.
func (u *upstream) transport(raw json.RawMessage, loaded *reverseproxy.Handler) {
	if loaded != nil {
		if t, ok := loaded.Transport.(*fastcgi.Transport); ok {
			u.php, u.root = true, varsRoot(t.Root)
		}
		return
	}
	var t struct {
		Protocol string `json:"protocol"`
		Root     string `json:"root"`
	}
	_ = jsonv1.Unmarshal(raw, &t)
	if t.Protocol == "fastcgi" {
		u.php, u.root = true, varsRoot(t.Root)
	}
}

// varsRoot is the root that a handler names, "" if it is the site's.
func varsRoot(root string) string {
	if root == "" || root == "{http.vars.root}" {
		return ""
	}
	return filepath.Clean(root)
}

// address writes an upstream's address in one way.
func address(dial string) string {
	if strings.Contains(dial, "/") { // a socket
		return dial
	}
	dial = strings.ToLower(dial)
	if port, ok := strings.CutPrefix(dial, ":"); ok {
		return "127.0.0.1:" + port
	}
	if port, ok := strings.CutPrefix(dial, "localhost:"); ok {
		return "127.0.0.1:" + port
	}
	return dial
}

// each returns the servers of u, each by itself.
func (u *upstream) each() []upstream {
	var found []upstream
	for name := range strings.SplitSeq(u.name, "\n") {
		found = append(found, upstream{name: name, root: u.root, php: u.php, local: u.local})
	}
	return found
}

// on returns u as it is on a way where the root has been set.
func (u *upstream) on(root string) upstream {
	there := *u
	if there.php && there.root == "" {
		there.root = varsRoot(root)
	}
	return there
}

func (u *upstream) String() string {
	name := strings.ReplaceAll(u.name, "\n", " ")
	if u.php && u.root != "" {
		return name + " with root " + u.root
	}
	return name
}

// passesThrough tells whether a loaded file_server passes on what it does not find.
func passesThrough(module any) bool {
	f, ok := module.(*fileserver.FileServer)
	return ok && f.PassThru
}
