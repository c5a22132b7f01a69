package policies

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// stripQueryEntry is the policy in the catalog.
var stripQueryEntry = policy.Entry{
	Name:  "strip_query",
	Words: []string{"strip_query"},
	New:   func() policy.Policy { return new(StripQuery) },
}

// StripQuery drops a parameter that breaks a route, such as a multilingual plugin's lang
// on the editor's calls (docs/project/interface 4, 7).
type StripQuery struct {
	Strips []Strip `json:"strips,omitempty"`
}

// Strip is one line `strip_query <name> <route>...`.
type Strip struct {
	Name   string   `json:"name"`
	Routes []string `json:"routes"`
	// At is where the line stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	target policy.Target
}

// Configure takes a line, or the policy's own block.
func (p *StripQuery) Configure(o policy.Option) error {
	if len(o.Args) == 0 {
		return o.Bare()
	}
	if strings.HasPrefix(o.Args[0], "/") {
		return o.Missing("needs the name of a parameter before its routes")
	}
	s := Strip{Name: o.Args[0], Routes: o.Args[1:], At: o.Pos}
	if len(o.Block) > 0 {
		return o.Errorf("strip_query takes no block behind a name")
	}
	if err := s.compile(); err != nil {
		return o.Invalid(err)
	}
	p.Strips = append(p.Strips, s)
	return nil
}

// decisive are the variables that decide what a request is. They are never dropped, nor
// are credentials; see caller.Strippable.
var decisive = []string{"rest_route", "_method", "id"}

func (s *Strip) compile() (err error) {
	if slices.Contains(decisive, s.Name) || !caller.Strippable(s.Name) {
		return fmt.Errorf("%s decides what a call is and cannot be dropped", s.Name)
	}
	if strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || s.Name == "" {
		return fmt.Errorf("%q is not the name of a parameter", s.Name)
	}
	s.target, err = policy.NewTarget(nil, s.Routes)
	return err
}

// Provision checks the lines.
func (p *StripQuery) Provision(*policy.Site, policy.Settings) error {
	for i := range p.Strips {
		if err := p.Strips[i].compile(); err != nil {
			return policy.Option{Pos: p.Strips[i].At}.Errorf("%w", err)
		}
	}
	return nil
}

// Change drops the pairs whose name PHP reads as a configured name.
func (p *StripQuery) Change(r *policy.Request, req *http.Request) bool {
	before := req.URL.RawQuery
	for i := range p.Strips {
		if s := &p.Strips[i]; s.target.Matches(r.Call) {
			req.URL.RawQuery = dropPairs(req.URL.RawQuery, s.Name)
		}
	}
	return req.URL.RawQuery != before
}

func dropPairs(query, name string) string {
	pairs := strings.Split(query, "&")
	kept := pairs[:0]
	for _, pair := range pairs {
		_, is := phpvars.OfQuery(pair).Get(name, 1)
		if !is && !phpvars.Separated(pair, name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// EachRoute implements [policy.Router].
func (p *StripQuery) EachRoute(do func(policy.RouteLine)) {
	for i := range p.Strips {
		s := &p.Strips[i]
		do(policy.RouteLine{At: s.At, Text: "strip_query " + s.Name, Routes: s.target.Routes(), Own: true})
	}
}
