package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/typo"
)

func init() { caddy.RegisterModule(adminAPI{}) }

// adminAPI is what Caddy's admin endpoint has of the gateway, below /restwarden/. Who may
// use it is what Caddy's configuration of that endpoint says.
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.restwarden", New: func() caddy.Module { return adminAPI{} }}
}

// Routes implements caddy.AdminRouter.
func (adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: adminapi.Path, Handler: caddy.AdminHandlerFunc(serveAdmin)}}
}

// adminRequest is a request to the admin endpoint.
type adminRequest struct {
	app  *App
	site *site // that the path names; nil if it names none
	id   string
	r    *http.Request
}

// adminResource answers requests for a path with one method.
type adminResource struct {
	method string
	serve  func(w http.ResponseWriter, a adminRequest) error
}

var (
	adminResources = map[string]adminResource{
		"sites":    {http.MethodGet, serveSites},
		"events":   {http.MethodGet, serveEvents},
		"lockdown": {http.MethodPost, serveLockdown},

		"confirmations": {http.MethodGet, serveConfirmations},
	}
	confirmationResource = adminResource{http.MethodPost, serveDecision} // /restwarden/confirmations/<id>
	siteResources        = map[string]adminResource{                     // below /restwarden/sites/<site>
		"refusals": {http.MethodGet, serveRefusals},
		"mode":     {http.MethodPost, serveMode},
	}
)

// serveAdmin finds the resource that a path names. The name of a site is one segment, in
// which a slash is written %2F.
func serveAdmin(w http.ResponseWriter, r *http.Request) error {
	path, below := strings.CutPrefix(r.URL.EscapedPath(), adminapi.Path)
	if !below {
		return notFound("there is no %s", r.URL.Path)
	}
	a := adminRequest{app: current.Load(), r: r}
	if a.app == nil {
		return notFound("no configuration with a restwarden directive is running")
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	resource, found := adminResources[segments[0]]
	if len(segments) == 3 && segments[0] == "sites" {
		name, err := url.PathUnescape(segments[1])
		if err != nil {
			return adminError(http.StatusBadRequest, fmt.Errorf("the name of the site: %w", err))
		}
		if resource, found = siteResources[segments[2]]; found {
			if a.site, err = a.app.siteNamed(name); err != nil {
				return err
			}
		}
	} else if len(segments) == 2 && segments[0] == "confirmations" {
		resource, found, a.id = confirmationResource, true, segments[1]
	} else if len(segments) != 1 {
		found = false
	}
	switch {
	case !found:
		return notFound("there is no %s", r.URL.Path)
	case r.Method != resource.method:
		w.Header().Set("Allow", resource.method)
		return adminError(http.StatusMethodNotAllowed, fmt.Errorf("method %s is not allowed here, only %s", r.Method, resource.method))
	}
	return resource.serve(w, a)
}

func adminError(status int, err error) error { return caddy.APIError{HTTPStatus: status, Err: err} }

func notFound(format string, args ...any) error {
	return adminError(http.StatusNotFound, fmt.Errorf(format, args...))
}

// sites returns the guarded sites by name, each once. It leaves out those for requests on
// ways that nobody knows, where the ways are known.
func (a *App) sites() []*site { return a.sitesWith(anySite) }

func anySite(*site) bool { return true }

// sitesWith returns the sites with one directive at least that fits: two for the same site
// may differ.
func (a *App) sitesWith(fits func(*site) bool) []*site {
	return slices.CompactFunc(a.directives(fits), func(s, t *site) bool { return s.Name == t.Name })
}

// directives returns what fits by name, once for each directive and way.
func (a *App) directives(fits func(*site) bool) []*site {
	a.assign()
	var all []*site
	for _, g := range a.gateways {
		for _, s := range g.sites {
			if (s.way.Module != nil || len(g.sites) == 1) && fits(s) {
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(s, t *site) int { return strings.Compare(s.Name, t.Name) })
	return all
}

// siteNamed returns the site of that name. The error names near ones.
func (a *App) siteNamed(name string) (*site, error) {
	sites := a.sites()
	names := make([]string, len(sites))
	for i, s := range sites {
		if names[i] = s.Name; s.Name == name {
			return s, nil
		}
	}
	text := fmt.Sprintf("no site %q is guarded", name)
	if hint := typo.Hint(name, names...); hint != "" {
		text += ": " + hint
	}
	return nil, adminError(http.StatusNotFound, errors.New(text))
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
var _ caddy.AdminRouter = adminAPI{}
