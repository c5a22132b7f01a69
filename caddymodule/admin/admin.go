// Package admin is what Caddy's admin endpoint has of the gateways that run, below /restwarden/: which
// requests it takes, and what it answers in HTTP. The gateways say and do what is asked. Who may use
// the endpoint is what Caddy's configuration of it says.
package admin

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/typo"
)

// Module is the Caddy module admin.api.restwarden.
type Module struct{ running func() Gateways }

// New returns the module for the gateways that running returns: nil while no configuration has any.
func New(running func() Gateways) Module { return Module{running} }

// CaddyModule returns the Caddy module information.
func (m Module) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.restwarden", New: func() caddy.Module { return m }}
}

// Routes implements caddy.AdminRouter.
func (m Module) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: adminapi.Path, Handler: caddy.AdminHandlerFunc(m.serve)}}
}

// request is a request to the admin endpoint.
type request struct {
	*http.Request
	gateways Gateways
	name     string // that stands for the * of the path: the site, or the id of a confirmation
}

// resource answers requests for a path with one method.
type resource struct {
	method string
	serve  func(w http.ResponseWriter, r request) error
}

var resources = map[string]resource{
	adminapi.SitesPath:         {http.MethodGet, serveSites},
	adminapi.RefusalsPath:      {http.MethodGet, serveRefusals},
	adminapi.ModePath:          {http.MethodPost, serveMode},
	adminapi.OpenPath:          {http.MethodPost, serveLine(parseOpen, Gateways.SwitchOpen)},
	adminapi.ClosePath:         {http.MethodPost, serveLine(parseClose, Gateways.SwitchClose)},
	adminapi.LockdownPath:      {http.MethodPost, serveLockdown},
	adminapi.EventsPath:        {http.MethodGet, serveEvents},
	adminapi.ConfirmationsPath: {http.MethodGet, serveConfirmations},
	adminapi.ConfirmationPath:  {http.MethodPost, serveDecision},
}

// serve finds the resource that a path names. The name of a site is one segment, in which a slash is
// written %2F.
func (m Module) serve(w http.ResponseWriter, of *http.Request) error {
	path, below := strings.CutPrefix(of.URL.EscapedPath(), adminapi.Path)
	if !below {
		return notFound("there is no %s", of.URL.Path)
	}
	r := request{Request: of, gateways: m.running()}
	if r.gateways == nil {
		return notFound("no configuration with a restwarden directive is running")
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	named := len(segments) > 1
	if named {
		r.name, segments[1] = segments[1], "*"
	}
	resource, found := resources[strings.Join(segments, "/")]
	if found && named && segments[0] == adminapi.SitesPath {
		var err error
		if r.name, err = url.PathUnescape(r.name); err != nil {
			return failed(http.StatusBadRequest, fmt.Errorf("the name of the site: %w", err))
		}
		if err := r.guarded(r.name); err != nil {
			return err
		}
	}
	switch {
	case !found:
		return notFound("there is no %s", r.URL.Path)
	case r.Method != resource.method:
		w.Header().Set("Allow", resource.method)
		return failed(http.StatusMethodNotAllowed, fmt.Errorf("method %s is not allowed here, only %s", r.Method, resource.method))
	}
	return resource.serve(w, r)
}

func failed(status int, err error) error { return caddy.APIError{HTTPStatus: status, Err: err} }

func notFound(format string, args ...any) error {
	return failed(http.StatusNotFound, fmt.Errorf(format, args...))
}

// guarded returns an error if there is no site of that name. It names near ones.
func (r request) guarded(name string) error {
	names := r.gateways.Names()
	if slices.Contains(names, name) {
		return nil
	}
	if hint := typo.Hint(name, names...); hint != "" {
		return notFound("no site %q is guarded: %s", name, hint)
	}
	return notFound("no site %q is guarded", name)
}

// by says who asks. The error says that the name of the operator is not certain.
func (r request) by() (by adminapi.By, err error) {
	by.Address = "the socket of the admin endpoint"
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && host != "" {
		by.Address = host
	}
	by.Operator, err = r.gateways.Operator(r.Request)
	if claims := r.Header.Values(adminapi.OperatorHeader); err == nil && by.Operator == "" && len(claims) > 0 {
		by.Operator, by.Claimed, err = claims[0], true, adminapi.CheckOperator(claims[0])
		if len(claims) > 1 {
			err = fmt.Errorf("the header %s is there %d times", adminapi.OperatorHeader, len(claims))
		}
	}
	if err != nil {
		err = failed(http.StatusBadRequest, err)
	}
	return by, err
}

// writeJSON answers with v. Its error means that nothing was written: Caddy answers with it, which
// it must not where a client goes in the middle of an answer.
func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a client that is gone reads nothing
	return nil
}

// Interface guard
var _ caddy.AdminRouter = Module{}
