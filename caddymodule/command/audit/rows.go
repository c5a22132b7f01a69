package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// Plugin is a plugin that the site seems to have: namespaces or routes of its own are there.
type Plugin struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Needed []Need `json:"needed"`
	Risky  []Risk `json:"risky"`
	// Absent tells that the REST root lists none of the routes that the plugin needs, and no
	// risky one, though the catalogue has some. Nothing is then said of them.
	Absent bool `json:"absent,omitempty"`
	// Optional tells that few sites use anything of what the plugin needs: no line is proposed.
	Optional bool `json:"optional,omitempty"`
	// Lines are those of Report.Propose that name the plugin. Keyed is the first of them, line
	// by line, for a site that knows the provider's key.
	Lines []string `json:"lines"`
	Keyed []string `json:"keyed,omitempty"`
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
	// Signed tells that calls pass now if the provider signs them.
	Signed bool `json:"signed,omitempty"`
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
	Needed bool `json:"needed,omitempty"`
	// Listed tells that the REST root has it. What is not listed stands here only where rules
	// open it once login_only is on.
	Listed   bool  `json:"listed"`
	Now      Reach `json:"now"`
	Proposed Reach `json:"proposed"`
	// Rule lets calls of the row pass now; "" where no rule does.
	Rule string `json:"rule,omitempty"`
	At   string `json:"at,omitempty"`
}

// Hole is a published hole of a route that the site lists, or that its rules open though it
// is not listed. The REST root does not tell versions.
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
	shown        []bool // of risks: the site lists the row
	exposes      []bool // of risks: open with login_only and the lines that allow
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
			shown := len(r.at) > 0
			if !shown {
				r.hidden(p.Risky[i].Methods)
			}
			f.risks, f.shown = append(f.risks, r), append(f.shown, shown)
		}
		f.exposes = make([]bool, len(f.risks))
		list = append(list, f)
	}
	return list, append([]string{}, in.Unknown...), nil
}

// absent tells whether the site lists no row of the plugin, though the catalogue has some.
func (f *found) absent() bool {
	return len(f.Needed)+len(f.Risky) > 0 && !slices.Contains(f.listed, true) && !slices.Contains(f.shown, true)
}

// counts tells whether row i of what the plugin needs calls for its plain line.
func (f *found) counts(i int) bool { return f.served(i) && !f.Needed[i].Optional && !f.absent() }

// served tells whether the plain line of the plugin opens row i, as far as the site has it.
func (f *found) served(i int) bool {
	return len(f.needs[i].at) > 0 && slices.Contains(plugins.DefaultGroups, f.Needed[i].Caller.Group())
}

// optional tells whether few sites use anything of what the plain line opens.
func (f *found) optional() (all bool) {
	for i := range f.needs {
		if f.served(i) {
			if all = f.Needed[i].Optional; !all {
				return false
			}
		}
	}
	return all
}

// keyed returns the line that opens what the plugin needs for calls with a good signature.
func (f *found) keyed() []string {
	for _, line := range f.Lines() {
		if f.allow && strings.HasPrefix(line.Text, "allow ") && strings.Contains(line.Text, "\n") {
			return strings.Split(strings.ReplaceAll(line.Text, "\t", "    "), "\n")
		}
	}
	return nil
}

// plugin writes what is known of the plugin.
func (f *found) plugin(now, then *Gateway) (p Plugin, holes []Hole, err error) {
	p = Plugin{
		Slug: f.Slug, Name: f.Name, Needed: []Need{}, Risky: []Risk{}, Absent: f.absent(), Optional: f.optional(), Lines: f.lines(), Keyed: f.keyed(),
	}
	if p.Absent {
		return p, nil, nil
	}
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
		if !f.shown[i] && !f.exposes[i] {
			continue
		}
		risk := f.risk(i, &a, &b)
		p.Risky = append(p.Risky, risk)
		if !f.shown[i] && risk.Rule == "" { // it is not known whether the site has it
			continue
		}
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
		Signed:  f.signed(i, now),
		Methods: methods, Route: n.Route, Group: n.Caller.Group(), Caller: string(n.Caller), Why: n.Why,
		Optional: n.Optional, Listed: f.listed[i], Now: reach(now), Proposed: reach(then), Refused: now.Refused,
	}
	if now.RefusedBy != nil {
		need.Rule, need.At = now.RefusedBy.String(), now.RefusedBy.At
	}
	return need
}

func (f *found) risk(i int, now, then *policies.Reached) Risk {
	methods := f.risks[i].methods
	if !f.shown[i] {
		methods = f.Risky[i].Methods
	}
	risk := Risk{
		Listed: f.shown[i], Methods: methods, Route: f.Risky[i].Route, Why: f.Risky[i].Why, CVE: f.Risky[i].CVE, Needed: f.needed(i),
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
		methods := f.risks[i].methods
		if !f.shown[i] {
			methods = f.Risky[i].Methods
		}
		return n.Route == f.Risky[i].Route && slices.ContainsFunc(methods, func(m string) bool { return slices.Contains(n.Methods, m) })
	})
}

// signed tells whether calls of row i pass if the provider signs them. at is what callers
// reach who do not.
func (f *found) signed(i int, at *policies.Reached) bool {
	return f.Needed[i].Signature != nil && at.None() && at.RefusedBy != nil && strings.HasPrefix(at.RefusedBy.Allow, "signed ")
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
