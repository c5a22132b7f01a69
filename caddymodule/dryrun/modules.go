package dryrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/ask"
)

func init() {
	caddy.RegisterModule(new(handler))
	caddy.RegisterModule(new(transport))
}

// configs are the loaded configurations, by the keys that their stand-ins have.
var configs sync.Map

// configOf returns the configuration with a key. Outside of a dry run there is none.
func configOf(key string) (*Config, error) {
	c, ok := configs.Load(key)
	if !ok {
		return nil, fmt.Errorf("%s is for the dry runs of restwarden alone", standInHandler)
	}
	return c.(*Config), nil
}

// handler stands in for a handler.
type handler struct {
	Run string `json:"run"`
	// Does is what it does: "begins" (the first of a server), "marks" (it stands before a
	// handler that may answer), "passes" (in place of one that is not known) or "answers".
	Does string `json:"does"`
	Name string `json:"name"`
}

// CaddyModule returns the Caddy module information.
func (*handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers." + standInHandler, New: func() caddy.Module { return new(handler) }}
}

// Provision implements caddy.Provisioner.
func (h *handler) Provision(ctx caddy.Context) error {
	c, err := configOf(h.Run)
	if err != nil || h.Does != "begins" {
		return err
	}
	return gateway.Observe(ctx, c.observer)
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	run := runOf(r.Context())
	if run == nil {
		return next.ServeHTTP(w, r)
	}
	switch h.Does {
	case "begins":
		r = run.past(r)
		run.begin(r)
	case "marks":
		run.mark(r, h.Name)
	case "passes":
		run.pass(r, h.Name)
	case "answers":
		run.mark(r, h.Name)
		a, err := run.answer(r)
		if err != nil {
			return err
		}
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.Status)
		_, err = w.Write(a.Body)
		return err
	}
	return next.ServeHTTP(w, r)
}

// transport stands in for the transport of a reverse_proxy.
type transport struct {
	Run string `json:"run"`
	// Real is the transport of the configuration; null is Caddy's default.
	Real json.RawMessage `json:"real"`
	// AsksFirst says that another server is asked whether a request may go on. It may.
	AsksFirst bool `json:"asks_first"`

	config *Config
	real   http.RoundTripper // nil unless questions are put to the real site
}

// CaddyModule returns the Caddy module information.
func (*transport) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.reverse_proxy.transport." + standInTransport, New: func() caddy.Module { return new(transport) }}
}

// Provision implements caddy.Provisioner.
func (t *transport) Provision(ctx caddy.Context) (err error) {
	if t.config, err = configOf(t.Run); err != nil || !t.config.live && !t.config.asksSites {
		return err
	}
	var named struct {
		Protocol string `json:"protocol"`
	}
	_ = json.Unmarshal(t.Real, &named)
	name, raw := named.Protocol, t.Real
	if name == "" {
		name, raw = "http", json.RawMessage("{}")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	delete(members, "protocol")
	if raw, err = json.Marshal(members); err != nil {
		return err
	}
	module, err := ctx.LoadModuleByID("http.reverse_proxy.transport."+name, raw)
	if err != nil {
		return err
	}
	t.real = module.(http.RoundTripper)
	return nil
}

// TLSEnabled implements reverseproxy.TLSTransport: upstreams keep their scheme.
func (t *transport) TLSEnabled() bool {
	if real, ok := t.real.(reverseproxy.TLSTransport); ok {
		return real.TLSEnabled()
	}
	return false
}

// EnableTLS implements reverseproxy.TLSTransport.
func (t *transport) EnableTLS(base *reverseproxy.TLSConfig) error {
	if real, ok := t.real.(reverseproxy.TLSTransport); ok {
		return real.EnableTLS(base)
	}
	return nil
}

// RoundTrip implements http.RoundTripper. Only a question that reads may reach the real site.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	run := runOf(r.Context())
	if run == nil {
		return nil, errNoRun
	}
	if t.AsksFirst && questionOf(r.Context()) != nil {
		return response(r, answerJSON(http.StatusOK, map[string]any{})), nil
	}
	if q := questionOf(r.Context()); q != nil && t.real != nil && reads(r.Method) && (run.live || run.asks != nil || t.config.live && q.As != ask.AsCaller) {
		return run.send(t.real, r)
	}
	if info, ok := reverseproxy.GetDialInfo(r.Context()); ok {
		run.mark(r, "reverse_proxy "+info.Address)
	}
	a, err := run.answer(r)
	if err != nil {
		return nil, err
	}
	return response(r, a), nil
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func response(r *http.Request, a *ask.Answer) *http.Response {
	body := a.Body
	if r.Method == http.MethodHead {
		body = nil
	}
	header := a.Header.Clone()
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	return &http.Response{
		StatusCode: a.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*handler)(nil)
	_ caddy.Provisioner           = (*transport)(nil)
	_ reverseproxy.TLSTransport   = (*transport)(nil)
)
