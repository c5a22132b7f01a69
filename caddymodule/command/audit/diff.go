package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/typo"
)

// Diff is what has changed since an earlier report.
type Diff struct {
	Version int        `json:"v"` // 1
	Added   []Endpoint `json:"added"`
	Removed []Endpoint `json:"removed"`
	// Changed are the endpoints of which callers without a login reach more or less.
	Changed []Change `json:"changed"`
	// Limits say what cannot be compared, in a sentence each.
	Limits []string `json:"limits,omitempty"`
	// Failed is what --fail-on has found, and Undecided what it could not decide.
	Failed    []Failure `json:"failed,omitempty"`
	Undecided []Failure `json:"undecided,omitempty"`
}

// Change is an endpoint, and what callers without a login reached of it before. Both reaches
// may be Some: then the parts, or the rules that decide on them, are others.
type Change struct {
	Endpoint
	Before Reach `json:"before"`
}

// Read reads the JSON of a report. The error says why the text is none: what a report never
// has is one, too, since a comparison with it would be wrong.
func Read(text []byte) (*Report, error) {
	r, decoder := new(Report), json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(r); err != nil || r.Version != 1 || r.Routes == nil {
		return nil, errors.New(`it is no report: make one with "audit --format json"`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the report")
	}
	seen := map[string]bool{}
	for _, e := range r.endpoints() {
		switch {
		case seen[e.String()]:
			return nil, fmt.Errorf("it has %q twice", e)
		case !slices.Contains([]Reach{All, Some, None, Unknown}, e.Anonymous):
			return nil, fmt.Errorf("%q is no reach, of %q", e.Anonymous, e)
		}
		seen[e.String()] = true
	}
	return r, nil
}

// Since compares two reports of one site.
func (r *Report) Since(old *Report) *Diff {
	d := &Diff{Version: 1, Added: []Endpoint{}, Removed: []Endpoint{}, Changed: []Change{}}
	before, after := old.methods(), r.methods()
	for _, e := range r.endpoints() {
		was, now := before[e.String()], after[e.String()]
		if was == nil {
			d.Added = append(d.Added, e)
			continue
		}
		if was.Anonymous != now.Anonymous || now.Anonymous == Some && (now.Parts == "" || now.Parts != was.Parts) {
			d.Changed = append(d.Changed, Change{e, was.Anonymous})
		}
		if len(was.Patterns) > 0 {
			d.Added = append(d.Added, e.withPatterns(now.Patterns, was.Patterns)...)
		}
	}
	for _, e := range old.endpoints() {
		was, now := before[e.String()], after[e.String()]
		if now == nil {
			d.Removed = append(d.Removed, e)
			continue
		}
		d.Removed = append(d.Removed, e.withPatterns(was.Patterns, now.Patterns)...)
		if len(was.Patterns) == 0 && d.Limits == nil {
			d.Limits = []string{"the earlier report does not hold the patterns of its routes: make a new one"}
		}
	}
	return d
}

// withPatterns returns e with each pattern that is not among others.
func (e Endpoint) withPatterns(patterns, others []string) (all []Endpoint) {
	for _, p := range patterns {
		if !slices.Contains(others, p) {
			e.Pattern = p
			all = append(all, e)
		}
	}
	return all
}

func (r *Report) endpoints() (all []Endpoint) {
	for i := range r.Routes {
		for _, m := range r.Routes[i].Methods {
			all = append(all, Endpoint{Method: m.Method, Route: r.Routes[i].Name, Anonymous: m.Anonymous})
		}
	}
	return all
}

// methods are the methods of all routes by what Endpoint.String calls them.
func (r *Report) methods() map[string]*Method {
	all := map[string]*Method{}
	for i := range r.Routes {
		for j := range r.Routes[i].Methods {
			m := &r.Routes[i].Methods[j]
			all[Endpoint{Method: m.Method, Route: r.Routes[i].Name}.String()] = m
		}
	}
	return all
}

// Failure is a kind of --fail-on that a report has, or may have, and what is of that kind.
type Failure struct {
	Kind string   `json:"kind"`
	Has  []string `json:"has"`
	// Why says why it is not known whether the report has more of the kind.
	Why string `json:"why,omitempty"`
}

// maxFailed is how many routes String names.
const maxFailed = 5

// String says in a line what has failed and by which routes.
func (f *Failure) String() string {
	routes := strings.Join(f.Has[:min(len(f.Has), maxFailed)], ", ")
	if more := len(f.Has) - maxFailed; more > 0 {
		routes += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case f.Why != "" && routes != "":
		return fmt.Sprintf("cannot be known: %s: %s: %s", f.Kind, f.Why, routes)
	case f.Why != "":
		return fmt.Sprintf("cannot be known: %s: %s", f.Kind, f.Why)
	}
	return fmt.Sprintf("fails %s: %d: %s", f.Kind, len(f.Has), routes)
}

// kind finds what is of one kind.
type kind struct {
	name string
	diff bool // it needs an earlier report
	// reach tells that it is about what callers without a login reach, so that calls past the
	// rules are of the kind, too.
	reach bool
	find  func(r *Report, d *Diff) []string
	// may finds what may be of the kind, beside what find finds; it may be nil.
	may func(d *Diff) []string
}

// kinds are the words of --fail-on. What cannot be reasoned about counts as reached, unless
// its earlier reach cannot be compared.
var kinds = []kind{
	{"anonymous-write", false, true, func(r *Report, _ *Diff) []string { return texts(r.Writes) }, nil},
	{
		"new-anonymous-write", true, true,
		func(_ *Report, d *Diff) []string { return texts(writing(d.reached())) },
		func(d *Diff) []string { return texts(writing(d.perhaps())) },
	},
	{"new-route", true, false, func(_ *Report, d *Diff) []string { return texts(d.Added) }, nil},
	{
		"new-anonymous", true, true,
		func(_ *Report, d *Diff) []string { return texts(d.reached()) },
		func(d *Diff) []string { return texts(d.perhaps()) },
	},
	{"known-hole", false, true, (*Report).openHoles, nil},
	{"needed-closed", false, false, (*Report).neededClosed, nil},
	{"unknown-namespace", false, false, func(r *Report, _ *Diff) []string { return r.UnknownNamespaces }, nil},
}

func writing(list []Endpoint) []Endpoint {
	return slices.DeleteFunc(list, func(e Endpoint) bool { return !writes(e.Method) })
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
		if err := typo.Check(name, Kinds()...); err != nil {
			return err
		}
		if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); kinds[i].diff && !diff {
			return fmt.Errorf("%s needs --diff", name)
		}
	}
	return nil
}

// FailOn returns what a report has of these kinds, and of which it cannot be known whether it
// has any. d may be nil if no kind needs it.
func (r *Report) FailOn(names []string, d *Diff) (failed, undecided []Failure) {
	for i := range kinds {
		k := &kinds[i]
		if !slices.Contains(names, k.name) {
			continue
		}
		has, may := k.find(r, d), []string(nil)
		if k.may != nil {
			may = k.may(d)
		}
		switch {
		case len(has) > 0:
			failed = append(failed, Failure{Kind: k.name, Has: has})
		case k.reach && !r.Certain:
			undecided = append(undecided, Failure{Kind: k.name, Has: []string{}, Why: "calls may pass the rules, see the notes"})
		case k.diff && len(d.Limits) > 0:
			undecided = append(undecided, Failure{Kind: k.name, Has: append([]string{}, may...), Why: d.Limits[0]})
		case len(may) > 0:
			undecided = append(undecided, Failure{Kind: k.name, Has: may, Why: "how much of these is reached"})
		}
	}
	return failed, undecided
}

// reached are the endpoints of which callers without a login now certainly reach more, or that
// are new and not certainly closed.
func (d *Diff) reached() (all []Endpoint) {
	for _, e := range d.Added {
		if e.Anonymous != None {
			all = append(all, e)
		}
	}
	for _, c := range d.Changed {
		if c.Anonymous == All || c.Before == None && c.Anonymous == Some {
			all = append(all, c.Endpoint)
		}
	}
	return all
}

// perhaps are the endpoints of which callers without a login may now reach more.
func (d *Diff) perhaps() (all []Endpoint) {
	for _, c := range d.Changed {
		if c.Anonymous == Unknown && c.Before != All || c.Anonymous == Some && (c.Before == Unknown || c.Before == Some) {
			all = append(all, c.Endpoint)
		}
	}
	return all
}

func (r *Report) openHoles(*Diff) (all []string) {
	for _, h := range r.OpenHoles() {
		all = append(all, fmt.Sprintf("%s %s %s of %s", h.CVE, strings.Join(h.Methods, ","), h.Route, h.Plugin))
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
	if n.Optional || n.Signed || !n.Group.Default() {
		return false
	}
	return n.Now == None || n.Now == Some && slices.Contains(p.Lines, plugins.AllowText(p.Slug))
}

func texts(list []Endpoint) (all []string) {
	for _, e := range list {
		all = append(all, e.String())
	}
	return all
}
