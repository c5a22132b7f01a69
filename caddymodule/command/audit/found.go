package audit

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/review"
)

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
func (s *listing) find() (list []*found, unknown []string, err error) {
	in := plugins.Find(s.root.Namespaces, s.root.Patterns())
	for _, p := range in.Plugins {
		f := &found{Plugin: p}
		for i := range p.Needed {
			n := &p.Needed[i]
			r, err := s.rowOf(n.Methods, n.Route)
			if err != nil {
				return nil, nil, err
			}
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
	return len(f.needs[i].at) > 0 && f.Needed[i].Caller.Group().Default()
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
	for i, r := range f.needs {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		if len(r.at) > 0 && !p.Absent {
			p.Needed = append(p.Needed, f.need(i, &a, &b))
		}
	}
	for i, r := range f.risks {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		risk := f.risk(i, &a, &b)
		if !p.Absent && (f.shown[i] || f.exposes[i]) {
			p.Risky = append(p.Risky, risk)
		}
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

func both(r *row, now, then *Gateway) (a, b review.Reached, err error) {
	if a, err = r.reach(now); err == nil {
		b, err = r.reach(then)
	}
	return a, b, err
}

func (f *found) need(i int, now, then *review.Reached) Need {
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

func (f *found) risk(i int, now, then *review.Reached) Risk {
	methods := f.risks[i].methods
	if !f.shown[i] {
		methods = f.Risky[i].Methods
	}
	risk := Risk{
		Listed: f.shown[i], Methods: methods, Route: f.Risky[i].Route, Why: f.Risky[i].Why, CVE: f.Risky[i].CVE, Needed: f.needed(i, methods),
		Now: reach(now), Proposed: reach(then),
	}
	if now.PassedBy != nil {
		risk.Rule, risk.At = now.PassedBy.String(), now.PassedBy.At
	}
	return risk
}

// needed tells whether the plugin needs risky row i with one of these methods.
func (f *found) needed(i int, methods []string) bool {
	return slices.ContainsFunc(f.Needed, func(n plugins.Need) bool {
		return n.Route == f.Risky[i].Route && slices.ContainsFunc(methods, func(m string) bool { return slices.Contains(n.Methods, m) })
	})
}

// signed tells whether calls of row i pass if the provider signs them. at is what callers
// reach who do not.
func (f *found) signed(i int, at *review.Reached) bool {
	return f.Needed[i].Signature != nil && at.None() && at.RefusedBy != nil && at.RefusedBy.Signed()
}

func (f *found) lines() []string {
	lines := []string{}
	if f.allow {
		lines = append(lines, f.AllowLine())
	}
	if f.deny {
		lines = append(lines, f.DenyLine())
	}
	return lines
}
