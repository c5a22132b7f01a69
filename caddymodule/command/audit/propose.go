package audit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/review"
)

// advise fills in what the catalogue tells, and the lines to add.
func (s *listing) advise(r *Report, now *Gateway, with func([]string) (*Gateway, error)) error {
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
	opening := lines{func(f *found) *bool { return &f.allow }, (*found).lacks, (*found).opens}
	allowed, err := opening.choose(list, closed, with)
	if err != nil {
		return nil, err
	}
	closing := lines{func(f *found) *bool { return &f.deny }, (*found).exposed, (*found).closes}
	return closing.choose(list, allowed, with)
}

// lines are those that open something, or those that close something risky.
type lines struct {
	proposed func(*found) *bool
	wanted   func(f *found, before *Gateway) (bool, error)
	changes  func(f *found, before, after *Gateway) (bool, error)
}

// choose chooses the lines that a gateway wants, and returns the gateway with them.
func (l lines) choose(list []*found, before *Gateway, with func([]string) (*Gateway, error)) (*Gateway, error) {
	var err error
	for _, f := range list {
		if *l.proposed(f), err = l.wanted(f, before); err != nil {
			return nil, err
		}
	}
	after, err := with(linesOf(list))
	if err != nil {
		return nil, err
	}
	dropped := false
	for _, f := range list {
		proposed := l.proposed(f)
		if !*proposed {
			continue
		}
		if *proposed, err = l.changes(f, before, after); err != nil {
			return nil, err
		}
		dropped = dropped || !*proposed
	}
	if !dropped {
		return after, nil
	}
	return with(linesOf(list))
}

// lacks tells whether something that the plugin needs is not all open.
func (f *found) lacks(g *Gateway) (bool, error) {
	for i := range f.needs {
		if shut, err := f.shut(i, g); shut || err != nil {
			return shut, err
		}
	}
	return false, nil
}

// exposed tells whether something risky of the plugin is open, and notes what. A row that the
// site does not list counts: a line may open it all the same. The plugin's line closes no hole
// of it in a route of the core.
func (f *found) exposed(g *Gateway) (bool, error) {
	open := false
	for i, r := range f.risks {
		at, err := r.reach(g)
		if err != nil {
			return false, err
		}
		f.exposes[i] = at.Passes != "" && !at.Unknown && f.Risky[i].Scope == ""
		open = open || f.exposes[i]
	}
	return open && !f.absent(), nil
}

// shut tells whether the plugin needs row i, and not all of it is open.
func (f *found) shut(i int, g *Gateway) (bool, error) {
	if !f.counts(i) {
		return false, nil
	}
	at, err := f.needs[i].reach(g)
	return at.Refused != "" && !at.Unknown && !f.signed(i, &at), err
}

// opens tells whether the plugin's line opens something that it needs.
func (f *found) opens(before, after *Gateway) (bool, error) {
	for i, r := range f.needs {
		if !f.counts(i) {
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
		if lost, err := r.lost(before, after); lost || err != nil {
			return true, err
		}
	}
	return false, nil
}

// lost tells whether callers without a login reach something of a row before, and not after.
// The rules after are those before and more.
func (r *row) lost(before, after *Gateway) (bool, error) {
	earlier, err := review.NewReacher(before.Chain)
	if err != nil {
		return false, err
	}
	later, err := review.NewReacher(after.Chain, r.route)
	if err != nil {
		return false, err
	}
	for _, p := range r.at {
		for _, method := range p.methods {
			refused, err := later.Refused(p.pattern, method, caller.Caller{})
			if err != nil {
				return false, err
			}
			if lost, err := passesAny(earlier, method, refused); lost || err != nil {
				return true, err
			}
		}
	}
	return false, nil
}

// passesAny tells whether callers without a login reach one of the routes.
func passesAny(reacher *review.Reacher, method string, routes []string) (bool, error) {
	for _, route := range routes {
		for _, one := range index.New([]string{regexp.QuoteMeta(route)}, nil).Routes() {
			reached, err := reacher.Of(one, []string{method}, []caller.Caller{{}})
			if err != nil || reached[0][0].Passes != "" {
				return true, err
			}
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

var escapes = strings.NewReplacer(".", `\.`, "(", `\(`, ")", `\)`, "+", `\+`)

// expression writes a pattern of a rule as a site's own.
func expression(route string) string {
	return wildcard.ReplaceAllStringFunc(escapes.Replace(route), func(s string) string {
		if s == "/**" {
			return `/(?P<rest>.+)`
		}
		return `/(?P<id>[^/]+)`
	})
}
