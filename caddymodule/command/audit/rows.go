package audit

import (
	"cmp"
	"slices"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// Plugin is a plugin that the site certainly has.
type Plugin struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Needed []Need `json:"needed"`
	Risky  []Risk `json:"risky"`
	// Lines are those of Report.Propose that name the plugin.
	Lines []string `json:"lines"`
}

// Need is what a plugin needs open.
type Need struct {
	Methods []string      `json:"methods"`
	Route   string        `json:"route"` // as in a rule
	Group   plugins.Group `json:"for"`
	Caller  string        `json:"caller"`
	Why     string        `json:"why"`
	// Optional tells that few sites use it.
	Optional bool `json:"optional,omitempty"`
	// Listed tells that the REST root has it. What is not listed is none of this release, or
	// hidden, or belongs to a setting.
	Listed bool  `json:"listed"`
	Now    Reach `json:"now"`
	// Proposed is what reaches it with login_only and Report.Propose.
	Proposed Reach `json:"proposed"`
	// Rule refuses calls of the row now, or some of them, such as Refused.
	Rule    string `json:"rule,omitempty"`
	At      string `json:"at,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Risk is a route of a plugin that no caller without a login should reach.
type Risk struct {
	Methods []string      `json:"methods"`
	Route   string        `json:"route"`
	Why     string        `json:"why"`
	CVE     []plugins.CVE `json:"cve,omitempty"`
	// Needed tells that the plugin needs the same route open.
	Needed   bool  `json:"needed,omitempty"`
	Now      Reach `json:"now"`
	Proposed Reach `json:"proposed"`
	// Rule lets calls of the row pass now; "" where no rule does.
	Rule string `json:"rule,omitempty"`
	At   string `json:"at,omitempty"`
}

// Hole is a published hole of a route that the site has. The REST root does not tell versions.
type Hole struct {
	CVE      string   `json:"cve"`
	Versions string   `json:"versions"` // that have the hole
	Plugin   string   `json:"plugin"`
	Methods  []string `json:"methods"`
	Route    string   `json:"route"`
	// Scope is set where the hole is one of the plugin in a route of the core.
	Scope    string `json:"scope,omitempty"`
	Now      Reach  `json:"now"`
	Proposed Reach  `json:"proposed"`
}

// row is a row of the catalogue, with the endpoints of the site that are of it.
type row struct {
	route   string
	methods []string // that the site lists
	at      []place
	jetpack bool // the caller signs with Jetpack's token
}

type place struct {
	pattern *index.Route
	methods []string
}

// rowOf finds the endpoints of a row.
func (s *site) rowOf(methods []string, route string) (*row, error) {
	reacher, err := open().Chain.Reacher(route)
	if err != nil {
		return nil, err
	}
	found := &row{route: route}
	for i := range s.routes {
		r := &s.routes[i]
		common := slices.DeleteFunc(slices.Clone(r.methods), func(m string) bool { return !slices.Contains(methods, m) })
		if len(common) == 0 {
			continue
		}
		for _, pattern := range r.patterns {
			reached, err := reacher.Of(pattern, common[:1], []caller.Caller{{}})
			if err != nil {
				return nil, err
			}
			if reached[0][0].Passes == "" || reached[0][0].Unknown {
				continue
			}
			found.at = append(found.at, place{pattern, common})
			found.methods = append(found.methods, common...)
		}
	}
	slices.SortFunc(found.methods, compareMethods)
	found.methods = slices.Compact(found.methods)
	return found, nil
}

// hidden makes the row one of a route that the site does not list.
func (r *row) hidden(methods []string) {
	r.at = nil
	for _, x := range index.New([]string{expression(r.route)}, nil).Routes() {
		r.at = append(r.at, place{x, methods})
	}
}

// reach says how much of the row callers without a login reach.
func (r *row) reach(g *Gateway) (all policies.Reached, err error) {
	who := caller.Caller{}
	if r.jetpack && g.Jetpack {
		who.Kind = caller.Unverified
	}
	reachers, err := g.reachers(r.route)
	if err != nil {
		return all, err
	}
	for _, p := range r.at {
		found, err := reachOf(reachers, []*index.Route{p.pattern}, p.methods, []caller.Caller{who})
		if err != nil {
			return all, err
		}
		for i := range found {
			join(&all, &found[i][0])
		}
	}
	return all, nil
}

// found is a plugin with its rows.
type found struct {
	*plugins.Plugin
	needs, risks []*row // of the same rows of the catalogue; nil where they do not count
	listed       []bool // of needs
	allow, deny  bool   // the line is proposed
}

// find reads the catalogue.
func (s *site) find() (list []*found, unknown []string, err error) {
	in := plugins.Find(s.root.Namespaces, s.root.Patterns())
	for _, p := range in.Plugins {
		f := &found{Plugin: p}
		for i := range p.Needed {
			n := &p.Needed[i]
			r, err := s.rowOf(n.Methods, n.Route)
			if err != nil {
				return nil, nil, err
			}
			r.jetpack = n.Credentials != ""
			listed := len(r.at) > 0
			if !listed && n.Seen != plugins.InIndex { // the root of no site lists it
				r.hidden(n.Methods)
			}
			f.needs, f.listed = append(f.needs, r), append(f.listed, listed)
		}
		for i := range p.Risky {
			r, err := s.rowOf(p.Risky[i].Methods, p.Risky[i].Route)
			if err != nil {
				return nil, nil, err
			}
			f.risks = append(f.risks, r)
		}
		list = append(list, f)
	}
	return list, append([]string{}, in.Unknown...), nil
}

// counts tells whether row i of what the plugin needs is opened by its plain line.
func (f *found) counts(i int) bool {
	return len(f.needs[i].at) > 0 && slices.Contains(plugins.DefaultGroups, f.Needed[i].Caller.Group())
}

// plugin writes what is known of the plugin.
func (f *found) plugin(now, then *Gateway) (p Plugin, holes []Hole, err error) {
	p = Plugin{Slug: f.Slug, Name: f.Name, Needed: []Need{}, Risky: []Risk{}, Lines: f.lines()}
	for i, r := range f.needs {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		if len(r.at) > 0 {
			p.Needed = append(p.Needed, f.need(i, &a, &b))
		}
	}
	for i, r := range f.risks {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		if len(r.at) == 0 {
			continue
		}
		risk := f.risk(i, &a, &b)
		p.Risky = append(p.Risky, risk)
		for _, cve := range risk.CVE {
			holes = append(holes, Hole{
				CVE: cve.ID, Versions: cve.Versions, Plugin: f.Slug, Methods: risk.Methods, Route: risk.Route, Scope: f.Risky[i].Scope,
				Now: risk.Now, Proposed: risk.Proposed,
			})
		}
	}
	return p, holes, nil
}

func both(r *row, now, then *Gateway) (a, b policies.Reached, err error) {
	if a, err = r.reach(now); err == nil {
		b, err = r.reach(then)
	}
	return a, b, err
}

func (f *found) need(i int, now, then *policies.Reached) Need {
	n, methods := &f.Needed[i], f.needs[i].methods
	if !f.listed[i] {
		methods = f.Needed[i].Methods
	}
	need := Need{
		Methods: methods, Route: n.Route, Group: n.Caller.Group(), Caller: string(n.Caller), Why: n.Why,
		Optional: n.Optional, Listed: f.listed[i], Now: reach(now), Proposed: reach(then), Refused: now.Refused,
	}
	if now.RefusedBy != nil {
		need.Rule, need.At = now.RefusedBy.String(), now.RefusedBy.At
	}
	return need
}

func (f *found) risk(i int, now, then *policies.Reached) Risk {
	risk := Risk{
		Methods: f.risks[i].methods, Route: f.Risky[i].Route, Why: f.Risky[i].Why, CVE: f.Risky[i].CVE, Needed: f.needed(i),
		Now: reach(now), Proposed: reach(then),
	}
	if now.PassedBy != nil {
		risk.Rule, risk.At = now.PassedBy.String(), now.PassedBy.At
	}
	return risk
}

// needed tells whether the plugin needs risky row i with one of the methods that the site
// lists.
func (f *found) needed(i int) bool {
	return slices.ContainsFunc(f.Needed, func(n plugins.Need) bool {
		return n.Route == f.Risky[i].Route && slices.ContainsFunc(f.risks[i].methods, func(m string) bool { return slices.Contains(n.Methods, m) })
	})
}

func (f *found) lines() []string {
	lines := []string{}
	if f.allow {
		lines = append(lines, "allow plugin "+f.Slug)
	}
	if f.deny {
		lines = append(lines, "deny plugin "+f.Slug)
	}
	return lines
}

// compareHoles sorts the open ones first.
func compareHoles(a, b Hole) int {
	closed := func(h *Hole) int {
		if h.Now == None {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(closed(&a), closed(&b)), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Route, b.Route), cmp.Compare(a.CVE, b.CVE),
		slices.Compare(a.Methods, b.Methods),
	)
}
