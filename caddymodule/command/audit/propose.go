package audit

import (
	"regexp"
	"slices"
	"strings"
)

// advise fills in what the catalogue tells, and the lines to add.
func (s *site) advise(r *Report, now *Gateway, with func([]string) (*Gateway, error)) error {
	list, unknown, err := s.find()
	if err != nil {
		return err
	}
	r.UnknownNamespaces = unknown
	then, err := propose(list, with)
	if err != nil {
		return err
	}
	r.Propose, r.Plugins, r.Holes = linesOf(list), []Plugin{}, []Hole{}
	for _, f := range list {
		p, holes, err := f.plugin(now, then)
		if err != nil {
			return err
		}
		r.Plugins, r.Holes = append(r.Plugins, p), append(r.Holes, holes...)
	}
	slices.SortStableFunc(r.Holes, compareHoles)
	routes, err := s.table(then)
	if err != nil {
		return err
	}
	r.Proposed = totals(routes)
	for i := range routes {
		for j := range routes[i].Methods {
			r.Routes[i].Methods[j].Proposed = routes[i].Methods[j].Anonymous
		}
	}
	return nil
}

// propose chooses the lines, and returns the gateway with them. A line that changes nothing
// is none of them.
func propose(list []*found, with func([]string) (*Gateway, error)) (*Gateway, error) {
	closed, err := with(nil)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		for i := range f.needs {
			if is, err := f.shut(i, closed); err != nil {
				return nil, err
			} else if is {
				f.allow = true
			}
		}
	}
	allowed, err := with(linesOf(list))
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if f.allow, err = f.opens(closed, allowed); err != nil {
			return nil, err
		}
		for i, r := range f.risks {
			at, err := r.reach(allowed)
			if err != nil {
				return nil, err
			}
			f.deny = f.deny || at.Passes != "" && !at.Unknown && f.Risky[i].Scope == ""
		}
	}
	denied, err := with(linesOf(list))
	if err != nil {
		return nil, err
	}
	changed := false
	for _, f := range list {
		if !f.deny {
			continue
		}
		if f.deny, err = f.closes(allowed, denied); err != nil {
			return nil, err
		}
		changed = changed || !f.deny
	}
	if !changed {
		return denied, nil
	}
	return with(linesOf(list))
}

// shut tells whether the plugin needs row i, and not all of it is open.
func (f *found) shut(i int, g *Gateway) (bool, error) {
	if !f.counts(i) {
		return false, nil
	}
	at, err := f.needs[i].reach(g)
	return at.Refused != "" && !at.Unknown, err
}

// opens tells whether the plugin's line opens something that it needs.
func (f *found) opens(before, after *Gateway) (bool, error) {
	for i, r := range f.needs {
		if !f.allow || !f.counts(i) {
			continue
		}
		if differs, err := r.differs(before, after); differs || err != nil {
			return true, err
		}
	}
	return false, nil
}

// closes tells whether the plugin's line closes something that is risky.
func (f *found) closes(before, after *Gateway) (bool, error) {
	for _, r := range f.risks {
		if len(r.at) == 0 {
			continue
		}
		if differs, err := r.differs(before, after); differs || err != nil {
			return true, err
		}
	}
	return false, nil
}

// differs tells whether more, or less, of a row is reached.
func (r *row) differs(before, after *Gateway) (bool, error) {
	a, b, err := both(r, before, after)
	return reach(&a) != reach(&b) || reach(&a) == Some && a.RefusedBy.String() != b.RefusedBy.String(), err
}

// linesOf returns the proposed lines: first what is opened, then what is closed.
func linesOf(list []*found) []string {
	lines := []string{}
	for _, prefix := range []string{"allow ", "deny "} {
		for _, f := range list {
			for _, line := range f.lines() {
				if strings.HasPrefix(line, prefix) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

var wildcard = regexp.MustCompile(`/(\*\*|\*|:[^/]+)`)

// expression writes a pattern of a rule as a site's own.
func expression(route string) string {
	route = strings.NewReplacer(".", `\.`, "(", `\(`, ")", `\)`, "+", `\+`).Replace(route)
	return wildcard.ReplaceAllStringFunc(route, func(s string) string {
		if s == "/**" {
			return `/(?P<rest>.+)`
		}
		return `/(?P<id>[^/]+)`
	})
}
