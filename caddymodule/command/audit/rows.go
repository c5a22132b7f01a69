package audit

import (
	"cmp"
	"slices"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/review"
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
	at      []part
}

type part struct {
	pattern *index.Route
	methods []string
}

// rowOf finds the endpoints of a row.
func (s *listing) rowOf(methods []string, route string) (*row, error) {
	reacher, err := review.NewReacher(open().Chain, route)
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
			found.at = append(found.at, part{pattern, common})
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
		r.at = append(r.at, part{x, methods})
	}
}

// reach says how much of the row callers without a login reach.
func (r *row) reach(g *Gateway) (all review.Reached, err error) {
	reachers, err := g.reachers(r.route)
	if err != nil {
		return all, err
	}
	for _, p := range r.at {
		found, err := reachOf(reachers, []*index.Route{p.pattern}, p.methods, []caller.Caller{{}})
		if err != nil {
			return all, err
		}
		for i := range found {
			join(&all, &found[i][0])
		}
	}
	return all, nil
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
