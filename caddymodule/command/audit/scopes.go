package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// holder is who has a credential of a scope, as each chain sees it.
type holder struct {
	scope    string
	who      caller.Caller
	reachers []*review.Reacher
}

// holders returns a holder for each kind of credentials of each scope of the site.
func (g *Gateway) holders() (all []holder, err error) {
	site := g.Chain.Site()
	if site.Scopes == nil {
		return nil, nil
	}
	for _, name := range site.Scopes.Names() {
		each, err := dryrun.As{Kind: dryrun.OfScope, Scope: name}.EachOn(site)
		if err != nil {
			return nil, err
		}
		for _, one := range each {
			h := holder{scope: name, who: one.Caller()}
			for _, chain := range append([]*policy.Chain{g.Chain}, g.Beside...) {
				reacher, err := review.NewHolderReacher(chain, h.who, one.Credential)
				if err != nil {
					return nil, err
				}
				h.reachers = append(h.reachers, reacher)
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// scopesOf returns what each holder reaches of a route, for each of its methods.
func scopesOf(holders []holder, r *route) ([]map[string]Reach, error) {
	all := make([]map[string]Reach, len(r.methods))
	of := map[string][][]review.Reached{} // of all holders of a scope
	for _, h := range holders {
		found, err := reachOf(h.reachers, r.patterns, r.methods, []caller.Caller{h.who})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		of[h.scope] = each(of[h.scope], found, join)
	}
	for j := range r.methods {
		for scope, found := range of {
			if all[j] == nil {
				all[j] = map[string]Reach{}
			}
			all[j][scope] = reach(&found[j][0])
		}
	}
	return all, nil
}

func (t *Totals) addScopes(scopes map[string]Reach) {
	for name, reach := range scopes {
		if t.Scopes == nil {
			t.Scopes = map[string]Count{}
		}
		count := t.Scopes[name]
		count.add(reach)
		t.Scopes[name] = count
	}
}

// ScopeNames are the names of the scopes that the report tells of, sorted.
func (r *Report) ScopeNames() []string { return slices.Sorted(maps.Keys(r.Totals.Scopes)) }
