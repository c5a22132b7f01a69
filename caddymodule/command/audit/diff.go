package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/nearest"
	"github.com/restwarden/restwarden/policies/plugins"
)

// Diff is what has changed since an earlier report.
type Diff struct {
	Version int        `json:"v"` // 1
	Added   []Endpoint `json:"added"`
	Removed []Endpoint `json:"removed"`
	// Changed are the endpoints of which callers without a login reach more or less.
	Changed []Change `json:"changed"`
	// Failed is what --fail-on has found.
	Failed []Failure `json:"failed,omitempty"`
}

// Change is an endpoint, and what callers without a login reached of it before.
type Change struct {
	Endpoint
	Before Reach `json:"before"`
}

// Read reads the JSON of a report.
func Read(text []byte) (*Report, error) {
	r := new(Report)
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(r); err != nil {
		return nil, fmt.Errorf("it is no JSON of a report: %w", err)
	}
	if r.Version != 1 || r.Routes == nil {
		return nil, errors.New(`it is no report: make one with "audit --format json"`)
	}
	return r, nil
}

// Since compares two reports of one site.
func (r *Report) Since(old *Report) *Diff {
	d := &Diff{Version: 1, Added: []Endpoint{}, Removed: []Endpoint{}, Changed: []Change{}}
	before, after := old.endpoints(), r.endpoints()
	known := map[string]Reach{}
	for _, e := range before {
		known[e.String()] = e.Anonymous
	}
	now := map[string]bool{}
	for _, e := range after {
		now[e.String()] = true
		was, had := known[e.String()]
		switch {
		case !had:
			d.Added = append(d.Added, e)
		case was != e.Anonymous:
			d.Changed = append(d.Changed, Change{e, was})
		}
	}
	for _, e := range before {
		if !now[e.String()] {
			d.Removed = append(d.Removed, e)
		}
	}
	return d
}

func (r *Report) endpoints() (all []Endpoint) {
	for i := range r.Routes {
		for _, m := range r.Routes[i].Methods {
			all = append(all, Endpoint{m.Method, r.Routes[i].Name, m.Anonymous})
		}
	}
	return all
}

// Failure is a kind of --fail-on that a report has, and what is of that kind.
type Failure struct {
	Kind string   `json:"kind"`
	Has  []string `json:"has"`
}

// kind finds what is of one kind.
type kind struct {
	name string
	diff bool // it needs an earlier report
	find func(r *Report, d *Diff) []string
}

// kinds are the words of --fail-on. What cannot be reasoned about counts as reached.
var kinds = []kind{
	{"anonymous-write", false, func(r *Report, _ *Diff) []string { return texts(r.Writes) }},
	{"new-anonymous-write", true, func(_ *Report, d *Diff) []string {
		return texts(slices.DeleteFunc(d.reached(), func(e Endpoint) bool { return !writes(e.Method) }))
	}},
	{"new-route", true, func(_ *Report, d *Diff) []string { return texts(d.Added) }},
	{"new-anonymous", true, func(_ *Report, d *Diff) []string { return texts(d.reached()) }},
	{"known-hole", false, (*Report).openHoles},
	{"needed-closed", false, (*Report).neededClosed},
	{"unknown-namespace", false, func(r *Report, _ *Diff) []string { return r.UnknownNamespaces }},
}

// Kinds are the words of --fail-on.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// CheckKinds checks words of --fail-on. The error names the nearest.
func CheckKinds(names []string, diff bool) error {
	for _, name := range names {
		if err := nearest.Check(name, Kinds()...); err != nil {
			return err
		}
		if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); kinds[i].diff && !diff {
			return fmt.Errorf("%s needs --diff", name)
		}
	}
	return nil
}

// FailOn returns what a report has of these kinds. d may be nil if no kind needs it.
func (r *Report) FailOn(names []string, d *Diff) (all []Failure) {
	for _, k := range kinds {
		if !slices.Contains(names, k.name) {
			continue
		}
		if has := k.find(r, d); len(has) > 0 {
			all = append(all, Failure{k.name, has})
		}
	}
	return all
}

// reached are the endpoints of which callers without a login now reach more.
func (d *Diff) reached() (all []Endpoint) {
	for _, e := range d.Added {
		if e.Anonymous != None {
			all = append(all, e)
		}
	}
	for _, c := range d.Changed {
		if c.Anonymous == All || c.Before == None {
			all = append(all, c.Endpoint)
		}
	}
	return all
}

func (r *Report) openHoles(*Diff) (all []string) {
	for i := range r.Holes {
		if h := &r.Holes[i]; h.Now != None {
			all = append(all, fmt.Sprintf("%s %s %s of %s", h.CVE, strings.Join(h.Methods, ","), h.Route, h.Plugin))
		}
	}
	return all
}

func (r *Report) neededClosed(*Diff) (all []string) {
	for i := range r.Plugins {
		p := &r.Plugins[i]
		for j := range p.Needed {
			if n := &p.Needed[j]; p.lacks(n) {
				all = append(all, fmt.Sprintf("%s %s of %s", strings.Join(n.Methods, ","), n.Route, p.Slug))
			}
		}
	}
	return all
}

// lacks tells whether a row that the plugin needs is closed: all of it, or a part that the
// plugin's line would open. Rows for apps and for setup need not be open.
func (p *Plugin) lacks(n *Need) bool {
	if n.Optional || n.Signed || !slices.Contains(plugins.DefaultGroups, n.Group) {
		return false
	}
	return n.Now == None || n.Now == Some && slices.Contains(p.Lines, "allow plugin "+p.Slug)
}

func texts(list []Endpoint) (all []string) {
	for _, e := range list {
		all = append(all, e.String())
	}
	return all
}
