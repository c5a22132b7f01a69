package dryrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// Names of the modules that stand in for others in a dry run.
const (
	standInHandler   = "restwarden_dry_run"
	standInTransport = "restwarden_dry_run"
)

// harmless changes a configuration so that loading it and sending requests through it has
// no effect on anything: what leaves the machine or writes is taken out or replaced by
// stand-ins.
type harmless struct {
	dir     string // for what modules store
	run     string // the key of the Config, for the stand-ins
	live    bool
	edit    func(*gateway.Gateway) error
	assumed []string
	said    map[string]string // the content of each directive, by that which it has in the configuration
	inner   []string          // handlers that are not run, and hold a directive
	failed  error             // of edit
}

// make returns the harmless form of a configuration. It is a map, since Caddy's own types know
// nothing of the stand-ins; a directive becomes a Gateway while it is changed.
func (h *harmless) make(config []byte) (map[string]any, error) {
	c, err := expanded(config)
	if err != nil {
		return nil, fmt.Errorf("the configuration is not JSON: %w", err)
	}
	apps, _ := c["apps"].(map[string]any)
	http, _ := apps["http"].(map[string]any)
	delete(http, "metrics")
	h.files(http)
	for _, server := range object(http["servers"]) {
		h.server(object(server))
	}
	return map[string]any{
		"admin":   map[string]any{"disabled": true, "config": map[string]any{"persist": false}},
		"logging": map[string]any{"logs": map[string]any{"default": map[string]any{"level": silence}}},
		"storage": map[string]any{"module": "file_system", "root": h.dir},
		"apps":    map[string]any{"http": http},
	}, h.failed
}

// decoded reads a JSON object. Numbers stay as they are.
func decoded(text []byte) (o map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return o, decoder.Decode(&o)
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func list(v any) []any { l, _ := v.([]any); return l }

func (h *harmless) server(s map[string]any) {
	for _, name := range []string{"listener_wrappers", "packet_conn_wrappers", "metrics"} {
		delete(s, name)
	}
	if policies := list(s["tls_connection_policies"]); len(policies) > 0 {
		s["tls_connection_policies"] = []any{map[string]any{}}
	}
	if source := object(s["trusted_proxies"]); source != nil && source["source"] != "static" {
		delete(s, "trusted_proxies")
		h.assume("the client's address is taken as it is: trusted_proxies %v is not asked", source["source"])
	}
	s["routes"] = append([]any{map[string]any{"handle": []any{h.standIn("begins", "")}}}, h.routes(s["routes"])...)
	if errors := object(s["errors"]); errors != nil {
		errors["routes"] = h.routes(errors["routes"])
	}
	for _, route := range object(s["named_routes"]) {
		// Caddy keeps only the first handler of a named route, so that none may be added.
		handlers := list(object(route)["handle"])
		for i := range handlers {
			after := h.handler(object(handlers[i]))
			handlers[i] = after[len(after)-1]
		}
	}
}

func (h *harmless) routes(v any) []any {
	routes := list(v)
	for _, route := range routes {
		r := object(route)
		if r == nil || r["handle"] == nil {
			continue
		}
		var handlers []any
		for _, handler := range list(r["handle"]) {
			handlers = append(handlers, h.handler(object(handler))...)
		}
		r["handle"] = handlers
	}
	return routes
}

// handler returns the handlers that stand in for one.
func (h *harmless) handler(handler map[string]any) []any {
	if handler == nil {
		return nil
	}
	content := ""
	if handler["handler"] == "restwarden" {
		content = contentOf(handler)
	}
	h.standInValues(handler)
	for _, inner := range append([]any{handler, handler["errors"]}, list(handler["handle_response"])...) {
		if o := object(inner); o["routes"] != nil {
			o["routes"] = h.routes(o["routes"])
		}
	}
	name, _ := handler["handler"].(string)
	if name == "restwarden" {
		changed := h.directive(handler)
		h.said[content] = contentOf(changed)
		return []any{changed}
	}
	switch routing.KindOf(name).Run {
	case routing.RunProxy:
		h.proxy(handler)
		return []any{handler}
	case routing.RunScripts:
		return []any{h.standIn("answers", name)}
	case routing.RunLogin:
		return h.authentication(handler)
	case routing.RunMarked:
		return []any{h.standIn("marks", described(name, handler)), handler}
	case routing.RunAsIs:
		return []any{handler}
	case routing.RunSilent:
		return []any{h.standIn("marks", "")}
	case routing.RunNot:
	}
	each(handler, "restwarden", func(map[string]any) { h.inner = append(h.inner, name) })
	return []any{h.standIn("passes", name)}
}

func (h *harmless) standIn(does, name string) map[string]any {
	return map[string]any{"handler": standInHandler, "run": h.run, "does": does, "name": name}
}

// described writes a handler as a Caddyfile does.
func described(name string, handler map[string]any) string {
	if name != "static_response" {
		return name
	}
	status := fmt.Sprint(handler["status_code"])
	if handler["status_code"] == nil {
		status = "200"
	}
	if handler["abort"] == true {
		return "abort"
	}
	if location := list(object(handler["headers"])["Location"]); len(location) > 0 {
		return fmt.Sprintf("redir %v %s", location[0], status)
	}
	return "respond " + status
}

// files notes roots that are not on this machine, where a matcher looks for files.
func (h *harmless) files(config any) {
	looks := false
	roots := map[string]bool{}
	walk(config, func(m map[string]any) {
		looks = looks || m["file"] != nil
		root, _ := m["root"].(string)
		if _, err := os.Stat(root); filepath.IsAbs(root) && !strings.Contains(root, "{") && errors.Is(err, fs.ErrNotExist) {
			roots[root] = true
		}
	})
	if looks && len(roots) > 0 {
		h.assume("%s is not on this machine, so that no matcher finds a file in it", strings.Join(slices.Sorted(maps.Keys(roots)), ", "))
	}
}

// directive makes a gateway's own configuration fit for any machine, and changes it as asked.
func (h *harmless) directive(handler map[string]any) map[string]any {
	g, err := gatewayOf(handler)
	if err != nil {
		return handler // Caddy will say what is wrong
	}
	g.SpoolDir = ""
	if h.edit != nil {
		h.failed = errors.Join(h.failed, h.edit(g))
	}
	text, err := json.Marshal(struct {
		Handler any `json:"handler"`
		*gateway.Gateway
	}{handler["handler"], g})
	changed, unread := decoded(text)
	h.failed = errors.Join(h.failed, err, unread)
	return changed
}

// gatewayOf reads the directive that a handler is, as Caddy does.
func gatewayOf(handler map[string]any) (*gateway.Gateway, error) {
	own := maps.Clone(handler)
	delete(own, "handler")
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	g := new(gateway.Gateway)
	return g, caddy.StrictUnmarshalJSON(text, g)
}

// proxy gives a reverse_proxy a transport that sends nothing.
func (h *harmless) proxy(p map[string]any) {
	delete(p, "health_checks")
	delete(p, "load_balancing")
	if !h.live && p["dynamic_upstreams"] != nil {
		delete(p, "dynamic_upstreams")
		p["upstreams"] = []any{map[string]any{"dial": "dynamic.invalid:80"}}
	}
	asksFirst := p["rewrite"] != nil && len(list(p["handle_response"])) > 0 // as forward_auth does
	p["transport"] = map[string]any{"protocol": standInTransport, "run": h.run, "real": p["transport"], "asks_first": asksFirst}
}

// authentication keeps Caddy's own passwords, and lets others pass.
func (h *harmless) authentication(handler map[string]any) []any {
	for provider := range object(handler["providers"]) {
		if provider != "http_basic" {
			return []any{h.standIn("passes", "authentication "+provider)}
		}
	}
	return []any{h.standIn("marks", "basic_auth"), handler}
}

func (h *harmless) assume(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(h.assumed, text) {
		h.assumed = append(h.assumed, text)
	}
}

// placeholder matches a placeholder for something of the machine that runs Caddy.
var placeholder = regexp.MustCompile(`\{(env|file)\.[^{}]+\}`)

// Stand-ins for secrets that this machine does not have: of a key of any scheme, and of a
// shop key.
const (
	standInKey     = "c3RhbmQtaW4ta2V5LW9mLWEtZHJ5LXJ1bi0zMi1ieXRlcw=="
	standInShopKey = "ck_stand_in:cs_stand_in"
)

// standInValues replaces placeholders without a value in the strings of v.
func (h *harmless) standInValues(v map[string]any) {
	for name, value := range v {
		v[name] = h.valued(name, value)
	}
}

func (h *harmless) valued(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value["handler"] != "restwarden" { // that is a handler of its own, which is identified by what it says
			h.standInValues(value)
		}
	case []any:
		for i := range value {
			value[i] = h.valued(name, value[i])
		}
	case string:
		if !strings.Contains(value, "{env.") && !strings.Contains(value, "{file.") {
			return value
		}
		repl := caddy.NewReplacer()
		return placeholder.ReplaceAllStringFunc(value, func(text string) string {
			if known, ok := repl.GetString(strings.Trim(text, "{}")); ok && known != "" {
				return text
			}
			h.assume("%s has no value here, a stand-in takes its place", text)
			if name == "credential" {
				return standInShopKey
			}
			return standInKey
		})
	}
	return value
}
