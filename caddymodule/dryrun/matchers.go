package dryrun

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Absent returns W15 for the matchers rest_call of a site that name routes which the site does
// not have, each once. A matcher has no place in the file. Load must have got the site.
func (c *Config) Absent(site *Installed) (found []routing.Finding) {
	var config struct {
		Apps struct {
			HTTP any `json:"http"`
		} `json:"apps"`
	}
	_ = json.Unmarshal(c.JSON, &config) // Load has read it
	seen := map[string]bool{}
	site.matchers(config.Apps.HTTP, func(methods, routes []string) {
		target, err := policy.NewTarget(methods, routes)
		if err != nil {
			return
		}
		words := []string{"the matcher rest_call"}
		if len(methods) > 0 {
			words = append(words, strings.Join(methods, ","))
		}
		line := strings.Join(append(words, routes...), " ")
		if missing := site.Lacks(target.Routes()); len(missing) > 0 && !seen[line] {
			seen[line] = true
			o := review.Absent("", line, missing)
			found = append(found, routing.Finding{Code: o.Code, Text: o.Text, Do: o.Do})
		}
	})
	return found
}

// matchers calls do for each rest_call within v, but for those of routes that are for other
// hosts.
func (site *Installed) matchers(v any, do func(methods, routes []string)) {
	switch v := v.(type) {
	case map[string]any:
		if sets, ok := v["match"].([]any); ok && len(sets) > 0 && !slices.ContainsFunc(sets, site.mayMatch) {
			return
		}
		if own, ok := v["rest_call"].(map[string]any); ok {
			var m gateway.MatchRESTCall
			if text, err := json.Marshal(own); err == nil && json.Unmarshal(text, &m) == nil {
				do(m.Methods, m.Routes)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			site.matchers(v[name], do)
		}
	case []any:
		for _, inner := range v {
			site.matchers(inner, do)
		}
	}
}

// mayMatch tells whether a set of matchers may hold for one of the site's hosts.
func (site *Installed) mayMatch(set any) bool {
	names, ok := object(set)["host"].([]any)
	return !ok || slices.ContainsFunc(names, func(v any) bool {
		name, text := v.(string)
		return text && slices.ContainsFunc(site.directives, func(d *routing.Directive) bool {
			return d.Covers(hosts.Name(name)) || slices.ContainsFunc(d.Hosts, func(host string) bool { return hosts.Fits(name, host) })
		})
	})
}
