package routing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Finding is something odd in a configuration.
type Finding struct {
	// Code is the name of one of Codes, or "" for what keeps the configuration from loading.
	Code string
	// At is where the directive stands, "Caddyfile:3", and Imported where the snippet that
	// holds it was imported; "" if that is not known.
	At, Imported string
	// Sites are the hosts that it is about, as configured; empty for all hosts.
	Sites []string
	// Text says what is odd, in one sentence.
	Text string
	// Do says what to do; "" stands for what the code says.
	Do string
	// Note tells that nothing is wrong, beside the codes of which that is true of each finding.
	Note bool
}

// Problem says what is odd and what to do.
func (f *Finding) Problem() string {
	if f.Do == "" {
		return f.Text
	}
	return f.Text + ": " + f.Do
}

// Report is what a survey found.
type Report struct {
	// Refused are directives that no request reaches: the configuration must not load.
	Refused []Finding
	// Odd is everything else.
	Odd []Finding
	// Directives are all directives, in the order of the configuration.
	Directives []*Directive
}

// Err returns a [RefusedError] of the directives that no request reaches; nil if there are
// none.
func (r *Report) Err() error {
	if len(r.Refused) == 0 {
		return nil
	}
	return RefusedError(r.Refused)
}

// RefusedError is why a configuration must not load. It has a line for each directive, with
// its place.
type RefusedError []Finding

// Error implements error.
func (e RefusedError) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = "restwarden"
		if e[i].At != "" {
			lines[i] += " at "
		}
		lines[i] += Place(e[i].At, e[i].Imported) + ": " + e[i].Problem()
	}
	return strings.Join(lines, "\n")
}

// HostsOf returns the hosts of the directives at a place; nil if they are not known, or for
// all hosts.
func (r *Report) HostsOf(at, imported string) []string {
	var hosts []string
	for _, d := range r.Directives {
		if d.At == at && d.Imported == imported {
			if d.Hosts == nil {
				return nil
			}
			hosts = append(hosts, d.Hosts...)
		}
	}
	return distinct(hosts)
}

// Survey looks for directives that guard nothing or less than it seems. It
// must run before Caddy has loaded one of them, for example when it loads the first: what
// is loaded says less about itself.
func Survey(app *caddyhttp.App, guards Directives) Report {
	v := survey{reader: &reader{guards: guards}, samples: map[string]*sample{}, guards: map[upstream][]*Directive{}, scripts: map[string][]guardedScripts{}}
	for _, name := range slices.Sorted(maps.Keys(app.Servers)) {
		v.flows = append(v.flows, follow(name, app.Servers[name], v.reader))
	}
	for i, said := range guards.Read(v.reader.raw) {
		v.reader.directives[i].Said = said
	}
	v.report.Directives = v.reader.directives
	if len(v.reader.directives) == 0 {
		return v.report
	}
	v.reached()
	v.own()
	v.past()
	v.proxies()
	for _, list := range [][]Finding{v.report.Refused, v.report.Odd} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.At, b.At), slices.Compare(a.Sites, b.Sites))
		})
	}
	return v.report
}

// survey is one survey of a configuration.
type survey struct {
	reader  *reader
	flows   []*flow
	leads   []*visit
	samples map[string]*sample
	guards  map[upstream][]*Directive
	scripts map[string][]guardedScripts // by the server that runs them, whatever their root
	report  Report
}

func (v *survey) odd(code string, d *Directive, sites []string, do, text string, args ...any) {
	v.report.Odd = append(v.report.Odd, Finding{
		Code: code, At: d.At, Imported: d.Imported, Sites: sites, Text: fmt.Sprintf(text, args...), Do: do,
	})
}

// reached looks for directives that no request reaches: W02, or refused.
func (v *survey) reached() {
	for _, d := range v.reader.directives {
		var all coverage
		for _, at := range d.visits {
			q := query{facts: at.facts, groups: at.groups}
			c := q.cover(at.cubes)
			all.closed, all.open = append(all.closed, c.closed...), append(all.open, c.open...)
			if c.by != nil {
				all.by = c.by
			}
			all.leads = all.leads || c.leads
		}
		switch {
		case len(all.open) > 0:
			v.partly(d, all)
		case len(all.closed) > 0 && !all.leads:
			v.odd("W02", d, d.Hosts, "remove the directive, or what stands before it",
				"no request reaches this directive, since %s answers every request before it, and leads to no platform", all.by.by)
		case len(all.closed) > 0:
			v.never(d, all.by, "every request before it")
		case len(d.visits) == 0:
			v.odd("W02", d, d.Hosts, "invoke its named route, or remove it", "no route leads to this directive, it guards nothing")
		default:
			v.odd("W02", d, d.Hosts, "look at their hosts and paths", "no request passes all matchers on the way to this directive, it guards nothing")
		}
	}
}

// never reports a directive that guards nothing. One that only observes may load.
func (v *survey) never(d *Directive, by *fact, what string) {
	text := fmt.Sprintf("no request reaches this directive, since %s answers %s", by.by, what)
	const do = "put it first in its route, and remove any order that puts it later"
	if d.Observes {
		v.odd("W02", d, d.Hosts, do, "%s", text)
		return
	}
	v.report.Refused = append(v.report.Refused, Finding{At: d.At, Imported: d.Imported, Sites: d.Hosts, Text: text, Do: do})
}

// partly reports a directive that only some requests reach.
func (v *survey) partly(d *Directive, all coverage) {
	missed := slices.DeleteFunc(distinct(all.closed), func(h string) bool { return h == "" || slices.Contains(all.open, h) })
	if d.missed = missed; len(missed) > 0 && all.leads {
		v.odd("W02", d, missed, "put the directive first in their route", "no request to %s reaches this directive, since %s answers before it",
			strings.Join(missed, ", "), all.by.by)
	}
	if len(missed) > 0 {
		return
	}
	var by *fact
	for _, s := range v.callsTo(d, nil) {
		for _, at := range d.visits {
			q := query{facts: at.facts, groups: at.groups, like: s}
			c := q.cover(at.cubes)
			if len(c.open) > 0 {
				return
			}
			if c.by != nil {
				by = c.by
			}
		}
	}
	switch {
	case by == nil:
	case by.by == "php_fastcgi":
		v.never(d, by, "every request before it, but for existing files")
	default:
		v.odd("W02", d, d.Hosts, "put the directive first in its route", "no REST call reaches this directive, since %s answers before it", by.by)
	}
}

// own looks for what is odd in a directive itself: W08, W09 and W10.
func (v *survey) own() {
	for _, d := range v.reader.directives {
		for _, name := range slices.Concat(d.Headers, d.Cookies) {
			if strings.Contains(name, "*") {
				v.odd("W08", d, d.Hosts, "write out each name", "credentials: the * of %q stands for itself, not for other characters", name)
			}
		}
		if d.ReadingOff {
			v.odd("W10", d, d.Hosts, "remove it, or use mode observe to see what it refuses", "call off: paths and calls without a certain reading reach the platform unjudged")
		}
		v.second(d)
	}
}

// second reports d if requests have passed another directive before.
func (v *survey) second(d *Directive) {
	for _, at := range d.visits {
		for _, f := range at.facts {
			if f.kind == guarded && f.guard != d && at.meets(f, nil) {
				v.odd("W09", d, at.hosts, "keep one of them",
					"a request passes the directive at %s before this one, and the rules of both hold", cmp.Or(f.guard.At, "another place"))
				return
			}
		}
	}
}

// meets tells whether requests in f, or those like a sample unless that is nil, may come to the visit.
func (at *visit) meets(f fact, like *sample) bool {
	q := query{facts: at.facts, groups: at.groups, like: like}
	var both []cube
	for _, c := range at.cubes {
		both = append(both, c.with(f.cube...))
	}
	return len(q.cover(both).open) > 0
}

// distinct returns list without repetitions.
func distinct(list []string) []string {
	var found []string
	for _, s := range list {
		if !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}
