// Package statuspage serves a page for people who run a Caddy with the gateway: its sites,
// refusals as they happen, and buttons for the switches. It stands in front of Caddy's
// admin endpoint, which refuses browsers (docs/status).
//
// Who has the address of a page may see it: the address holds a token. The token of one
// site shows that site alone and switches nothing.
package statuspage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	style string
	//go:embed page.js
	drawing string
	//go:embed live.js
	following string

	script = drawing + following

	page = template.Must(template.New("page").Parse(pageText))

	// contentPolicy lets the page load nothing, run its own script alone, and talk to its own
	// server alone.
	contentPolicy = "default-src 'none'; style-src " + hashOf(style) + "; script-src " + hashOf(script) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// hashOf names a text in a Content-Security-Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Page is the pages of one Caddy: that of all sites, and one for each site alone.
type Page struct {
	api     *adminapi.Client
	tokens  tokens
	sites   siteList
	feed    feed
	handler http.Handler
}

// New returns the pages of the Caddy that api asks. Tokens are made from key, a secret of
// 32 bytes or more: the same key makes the same addresses.
func New(api *adminapi.Client, key []byte) *Page {
	p := &Page{api: api, tokens: tokens{key}, sites: siteList{api: api}, feed: feed{problem: "connecting"}}
	mux := http.NewServeMux()
	for pattern, serve := range p.routes() {
		mux.Handle(pattern, p.viewed(serve))
	}
	p.handler = new(http.CrossOriginProtection).Handler(mux)
	return p
}

// routes are what the page and its scripts ask.
func (p *Page) routes() map[string]func(http.ResponseWriter, *http.Request, view) error {
	return map[string]func(http.ResponseWriter, *http.Request, view) error{
		"GET /{token}/{$}":       p.servePage,
		"GET /{token}/sites":     p.serveSites,
		"GET /{token}/refusals":  p.serveRefusals,
		"GET /{token}/events":    p.serveEvents,
		"POST /{token}/mode":     p.serveMode,
		"POST /{token}/lockdown": p.serveLockdown,
	}
}

// Path returns the path of the page of all sites, or of one site alone if it is not "".
func (p *Page) Path(site string) string { return "/" + p.tokens.of(view{site}) + "/" }

// Serve follows what Caddy refuses, and serves the pages on l, until ctx ends.
func (p *Page) Serve(ctx context.Context, l net.Listener) error {
	go p.feed.follow(ctx, p.api)
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // answers of events have no end of their own
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer") // the address is a secret
	h.Set("X-Content-Type-Options", "nosniff")
	p.handler.ServeHTTP(w, r)
}

// view is what a token shows: one site, or all if the name is "".
type view struct{ site string }

func (v view) all() bool { return v.site == "" }

// viewed lets those in who have a token, and writes errors.
func (p *Page) viewed(serve func(http.ResponseWriter, *http.Request, view) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := p.tokens.view(r.PathValue("token"))
		if !ok {
			http.Error(w, "There is no such page. Its address is what `caddy restwarden status --web` has printed.", http.StatusNotFound)
			return
		}
		if err := serve(w, r, v); err != nil {
			writeError(w, v.told(err))
		}
	})
}

// told returns an error as those may see it who have the token: that of all sites sees
// everything, but what Caddy says names other sites, and the address of its endpoint.
func (v view) told(err error) error {
	if v.all() || errors.As(err, new(statusError)) {
		return err
	}
	if said, ok := errors.AsType[*adminapi.Error](err); ok && said.Status == http.StatusNotFound {
		return statusError{http.StatusNotFound, fmt.Errorf("the site %s is not guarded any more", v.site)}
	}
	return statusError{http.StatusBadGateway, errSilent}
}

// errSilent is why nothing comes, for those who may see one site alone.
var errSilent = errors.New("the gateway does not answer")

// statusError is an error of the browser's request.
type statusError struct {
	status int
	error
}

// writeError answers with an error as Caddy's admin endpoint has them.
func writeError(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if said, ok := errors.AsType[*adminapi.Error](err); ok {
		status = said.Status
	} else if own, ok := errors.AsType[statusError](err); ok {
		status = own.status
	}
	_ = writeJSON(w, status, map[string]string{"error": err.Error()}) // a map of strings is always JSON
}

// writeJSON answers with v. Its error means that nothing was written: a browser that goes
// meanwhile is none.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a browser that is gone reads nothing
	return nil
}

// servePage answers with the page itself.
func (p *Page) servePage(w http.ResponseWriter, _ *http.Request, v view) error {
	var text strings.Builder
	err := page.Execute(&text, struct {
		Site, Address string
		Style         template.CSS
		Script        template.JS
	}{v.site, p.api.Address(), template.CSS(style), template.JS(script)}) //nolint:gosec // both are our own
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(text.String())) // as in writeJSON
	return nil
}
