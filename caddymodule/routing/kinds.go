package routing

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Kind is all that is known of a handler of Caddy's, whatever its configuration: a row of kinds.
// Survey, ways and dry runs ask it.
type Kind struct {
	// Run is what a dry run has in its place.
	Run Run

	answers bool  // it never passes a request on, except from its branches
	quiet   bool  // it never fails, but in the routes within it
	single  bool  // it holds no routes
	through bool  // all its requests go through the routes of its first branch, in order
	changes parts // of a request

	wayless []string // members of its configuration that decide on no request's way
	unless  string   // the member without which it changes answers alone

	by       string                  // its directives, where these are not its name
	read     func(*handler, step)    // notes what else its configuration says
	branches func(step) []branch     // the routes within it; nil where these may be anywhere in its fields
	invokes  func(step) string       // the named route that it invokes
	leads    func(step) *lead        // to a platform; nil if requests there are not the client's
	alters   func(step) []alteration // what it changes of a request before it passes it on
	sets     func(step) values       // what placeholders stand for behind it
}

// Run is what a dry run does with a handler.
type Run uint8

// What a dry run does with a handler.
const (
	RunNot     Run = iota // a stand-in passes, and says that the handler is not run
	RunAsIs               // it does nothing but with the request itself
	RunMarked             // as it is, behind a stand-in that notes that it may answer
	RunSilent             // a stand-in passes: its work shows in no answer
	RunProxy              // with a transport that sends nothing
	RunScripts            // a stand-in answers as the platform
	RunLogin              // Caddy's own passwords are checked, others pass
)

// Leads tells whether requests may come to a platform by the handler.
func (k *Kind) Leads() bool { return k.leads != nil }

// Ways returns what of the configuration of a handler decides which way a request takes; nil if nothing does. That a handler
// which Leads stands there counts as well.
func (k *Kind) Ways(config map[string]any) map[string]any {
	switch {
	case k.leads != nil && config["handle_response"] == nil && config["rewrite"] == nil:
		return sentOn(config)
	case k.single && !k.answers && k.changes == 0 && k.leads == nil && k.invokes == nil && k.read == nil && k.alters == nil:
		return nil
	case k.unless != "" && config[k.unless] == nil:
		return nil
	}
	kept := maps.Clone(config)
	for _, name := range k.wayless {
		delete(kept, name)
	}
	return kept
}

// sentOn returns what a proxy changes of the requests that it sends on; nil for nothing.
func sentOn(config map[string]any) map[string]any {
	headers, _ := config["headers"].(map[string]any)
	if headers["request"] == nil {
		return nil
	}
	return map[string]any{"handler": config["handler"], "headers": map[string]any{"request": headers["request"]}}
}

// PassesAsIs tells whether a handler with a configuration hands each request on as it came, but for what it notes beside it.
func (k *Kind) PassesAsIs(config map[string]any) bool {
	return k.Ways(config) == nil && !k.answers || k.quiet && k.single && !k.answers && k.alters == nil && k.leads == nil && k.invokes == nil && k.changes&^other == 0
}

// KindOf returns the kind of the handler with a module's name. Of a handler that is not known it
// says that it may do anything.
func KindOf(name string) *Kind {
	if k, ok := kinds[name]; ok {
		return k
	}
	return anything
}

var anything = &Kind{changes: everything}

// kinds are Caddy's own handlers and FrankenPHP's, by the names of their modules.
var kinds = map[string]*Kind{
	"acme_server":           {Run: RunSilent, changes: everything},
	"authentication":        {Run: RunLogin, changes: other},
	"copy_response":         {Run: RunAsIs, answers: true, single: true},
	"copy_response_headers": {Run: RunAsIs, single: true},
	"encode":                {Run: RunAsIs, quiet: true, single: true},
	"error":                 {Run: RunMarked, answers: true, single: true, read: readError},
	"file_server":           {Run: RunMarked, single: true, read: readFiles, wayless: []string{"hide"}}, // which names the configuration's file
	"headers":               {Run: RunAsIs, quiet: true, single: true, read: readHeaders, alters: alteredHeaders, unless: "request"},
	"intercept":             {Run: RunAsIs, changes: other, branches: handledResponses},
	"invoke":                {Run: RunAsIs, quiet: true, single: true, invokes: invoked},
	"log_append":            {Run: RunAsIs, quiet: true, single: true},
	"map":                   {Run: RunAsIs, quiet: true, changes: other, sets: setByMap},
	"metrics":               {Run: RunMarked, answers: true, single: true},
	"php":                   {Run: RunScripts, answers: true, changes: other, leads: toScripts},
	"push":                  {Run: RunAsIs, quiet: true, single: true},
	"request_body":          {Run: RunAsIs, single: true, alters: alteredBody},
	"reverse_proxy":         {Run: RunProxy, answers: true, changes: other, branches: handledResponses, leads: toProxied},
	"rewrite":               {Run: RunAsIs, quiet: true, single: true, changes: path | other, alters: rewritten},
	"static_response":       {Run: RunMarked, single: true, by: "a redir, respond or abort", read: readStatic},
	"subroute":              {Run: RunAsIs, quiet: true, through: true, branches: subroutes},
	"templates":             {Run: RunAsIs, single: true},
	"timeouts":              {Run: RunAsIs, quiet: true, single: true},
	"tracing":               {Run: RunSilent, quiet: true, single: true},
	"vars":                  {Run: RunAsIs, quiet: true, single: true, changes: other, read: readVars, sets: setByVars},
}

func invoked(s step) string { return decoded[caddyhttp.Invoke](s).Name }

func readError(h *handler, s step) {
	h.status, _ = strconv.Atoi(string(decoded[caddyhttp.StaticError](s).StatusCode))
}

func readFiles(h *handler, s step) {
	h.answers = !decoded[fileserver.FileServer](s).PassThru
}

func readVars(h *handler, s step) {
	if root, ok := (*decoded[caddyhttp.VarsMiddleware](s))["root"].(string); ok {
		h.root = root
	}
}

func readStatic(h *handler, s step) {
	r := decoded[caddyhttp.StaticResponse](s)
	status := string(r.StatusCode)
	h.fails = strings.Contains(status, "{")
	// 103 is no final answer, and a placeholder may say so
	h.answers = r.Abort || status != "103" && !h.fails
	if !r.Abort && (status == "" || strings.HasPrefix(status, "2")) {
		h.leads = &lead{upstream: upstream{name: "respond", local: true}}
		return
	}
	h.plain = true
}

func readHeaders(h *handler, s step) {
	switch text := strings.ToLower(string(requestHeaders(s))); {
	case text == "" || text == "null":
	case strings.Contains(text, `"host"`) || strings.Contains(text, `"{`): // a placeholder may name any field
		h.changes = host | other
	default:
		h.changes = other
	}
}

func rewritten(s step) []alteration {
	var w rewriting
	_ = jsonv1.Unmarshal(s.json(), &w)
	return w.alterations()
}

func alteredHeaders(s step) []alteration {
	var ops headerOps
	_ = jsonv1.Unmarshal(requestHeaders(s), &ops)
	return ops.alterations("request_header")
}

func requestHeaders(s step) json.RawMessage {
	var h struct {
		Request json.RawMessage `json:"request"`
	}
	_ = jsonv1.Unmarshal(s.json(), &h)
	return h.Request
}

func alteredBody(s step) []alteration {
	var b struct {
		Set string `json:"set"`
	}
	_ = jsonv1.Unmarshal(s.json(), &b)
	if b.Set == "" {
		return nil
	}
	return []alteration{{what: "request_body set"}}
}
