package testfile

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// reached returns an error if a call that always says passes does not come to the site: if
// something else answers in place of the gateway, or Caddy itself behind it. It tries the address,
// an example of each route, and what the configuration's own matchers of paths name.
func (c *configuration) reached(ctx context.Context, p *Proof, i int, site *gateway.ServedSite, at *url.URL) error {
	if !p.Always {
		return nil
	}
	guarded := make([]routes.Pattern, len(p.Routes))
	addresses := []string{p.URL}
	for i, route := range p.Routes {
		guarded[i] = routes.MustPattern(route)
		addresses = append(addresses, urls(at, site, example(route))...)
	}
	for _, path := range matchedPaths(c.JSON) {
		addresses = append(addresses, at.Scheme+"://"+at.Host+path)
	}
	methods := p.Calls
	if len(methods) == 0 { // every method
		methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	}
	for _, address := range addresses {
		for _, method := range methods {
			if err := c.comes(ctx, method, address, p.As[i], guarded, address == p.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// comes returns an error if a call does not come to the site. Where it is not the site's
// address, only calls of the routes count.
func (c *configuration) comes(ctx context.Context, method, address string, as dryrun.As, guarded []routes.Pattern, home bool) error {
	request, err := dryrun.Build(method, address, nil, nil)
	if err != nil {
		if home {
			return err
		}
		return nil // the configuration's own pattern, and no address
	}
	request.As = as
	site, result, err := c.Reach(ctx, request)
	switch {
	case err != nil:
		return err
	case site == nil && home:
		return &hole{method + ": " + unreached(result).Error()}
	case site == nil || result.Behind == "" || result.Reading == nil || result.Reading.Kind != call.Single.String():
		return nil
	}
	if of := slices.ContainsFunc(guarded, func(p routes.Pattern) bool { return p.Match(routes.Key(result.Reading.Route)) }); of {
		return &hole{fmt.Sprintf("%s %s: %s answers behind the gateway, and not the site", method, address, result.Behind)}
	}
	return nil
}

// example is a route of a pattern.
func example(pattern string) string {
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") || s == "*" || s == "**" {
			segments[i] = "1"
		}
	}
	return strings.Join(segments, "/")
}

// mostPaths bounds the paths that are tried of a configuration.
const mostPaths = 500

// matchedPaths are examples of the paths that the matchers of a configuration name.
func matchedPaths(config []byte) (paths []string) {
	var read any
	if json.Unmarshal(config, &read) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			list, _ := v["path"].([]any)
			for _, one := range list {
				path, _ := one.(string)
				if path = strings.ReplaceAll(path, "*", "1"); strings.HasPrefix(path, "/") && !slices.Contains(paths, path) && len(paths) < mostPaths {
					paths = append(paths, path)
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(read)
	slices.Sort(paths)
	return paths
}
