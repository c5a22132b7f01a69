package routing

import (
	"slices"
	"strings"
)

// past looks for calls that go past the directives to what these guard: W01 and W03. Such
// a call comes from any client: whom matchers let past by address comes past on purpose.
func (v *survey) past() {
	var ends []*visit
	for _, f := range v.flows {
		for _, at := range f.visits {
			if at.end {
				ends = append(ends, at)
				continue
			}
			v.leads = append(v.leads, at)
			v.note(at)
		}
	}
	for _, at := range v.leads {
		v.lead(at)
		v.changed(at)
	}
	for _, at := range ends {
		v.end(at)
	}
}

// note notes which directives guard what the visit leads to.
func (v *survey) note(at *visit) {
	for _, f := range at.facts {
		if f.kind != guarded || v.noted(at, f.guard) || !at.meets(f, nil) {
			continue
		}
		for _, one := range at.upstream.each() {
			v.guards[one] = append(v.guards[one], f.guard)
			if one.php {
				v.scripts[one.name] = append(v.scripts[one.name], guardedScripts{one.root, f.guard})
			}
		}
		f.guard.guards = f.guard.guards || !at.upstream.local
	}
}

// noted tells whether d is known to guard all that the visit leads to.
func (v *survey) noted(at *visit, d *Directive) bool {
	return !slices.ContainsFunc(at.upstream.each(), func(one upstream) bool { return !slices.Contains(v.guards[one], d) })
}

// guardsOf returns the directives that guard something of what the visit leads to.
func (v *survey) guardsOf(at *visit) []*Directive {
	var found []*Directive
	for _, one := range at.upstream.each() {
		found = append(found, v.guards[one]...)
		if !one.php {
			continue
		}
		for _, s := range v.scripts[one.name] {
			switch {
			case one.root == "" && at.errors: // routes for errors keep the root of the site
				if slices.ContainsFunc(s.guard.visits, at.shares) {
					found = append(found, s.guard)
				}
			case below(s.root, one.root) != "":
				found = append(found, s.within(below(s.root, one.root)))
			}
		}
	}
	if len(found) == 0 && at.final && !at.upstream.local {
		return v.idle(at)
	}
	return found
}

// guardedScripts are scripts in a root that a directive guards.
type guardedScripts struct {
	root  string
	guard *Directive
}

// below returns the path of root below another one, "" if it is not below.
func below(root, above string) string {
	if above == "" || root == above {
		return ""
	}
	if path, ok := strings.CutPrefix(root, strings.TrimSuffix(above, "/")+"/"); ok {
		return "/" + path
	}
	return ""
}

// within returns the directive as it would stand where its root is a folder.
func (s *guardedScripts) within(folder string) *Directive {
	d := *s.guard
	d.Base = folder + d.Base
	return &d
}

// idle returns the site's directives that lead to no platform: the one that only
// handle_errors leads to is theirs.
func (v *survey) idle(at *visit) []*Directive {
	return slices.DeleteFunc(slices.Clone(v.reader.directives), func(d *Directive) bool {
		return d.guards || !slices.ContainsFunc(d.visits, at.shares)
	})
}

// lead reports calls that come to the visit, though directives guard what it leads to.
func (v *survey) lead(at *visit) {
	guards := v.guardsOf(at)
	if len(guards) == 0 {
		return
	}
	d := guardOf(guards, at)
	if at.upstream.local && d.guards || at.errors && !at.errs() {
		return // an answer of Caddy's own beside a platform, or errors that do not happen
	}
	calls := v.callsTo(d, at)
	for _, steady := range []bool{true, false} { // first a call that comes there even if no handler changes it
		for _, s := range calls {
			q := query{facts: at.facts, groups: at.groups, guards: true, like: s, steady: steady}
			if open := q.cover(at.cubes).open; len(open) > 0 {
				v.unguarded(d, at, s, sites(open, at))
				return
			}
		}
	}
}

// guardOf returns the directive that is the nearest to the visit's site.
func guardOf(guards []*Directive, at *visit) *Directive {
	i := slices.IndexFunc(guards, func(d *Directive) bool { return slices.ContainsFunc(d.visits, at.shares) })
	return guards[max(i, 0)] // the first one, where none is near
}

// shares tells whether requests may come to both places, with and without an error.
func (at *visit) shares(b *visit) bool {
	return at.server == b.server && (at.hosts == nil || b.hosts == nil || !disjointHosts(at.hosts, b.hosts))
}

// unguarded reports a call that comes to the visit past d.
func (v *survey) unguarded(d *Directive, at *visit, s *sample, hosts []string) {
	to := at.upstream.String()
	if at.upstream.local {
		to = "the site"
	}
	switch same := slices.ContainsFunc(d.visits, at.shares); {
	case at.errors && same:
		v.odd("W01", d, hosts, "put restwarden into it", "handle_errors leads to %s without restwarden", to)
	case !same:
		v.odd("W01", d, hosts, "put restwarden there, too", "%s leads to %s without restwarden, which guards it here", all(hosts), to)
	case d.flagged:
	case v.stops(d, s) && len(hosts) > 0 && !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(d.missed, h) }):
		return // it has been said
	case v.stops(d, s):
		d.flagged = true
		v.odd("W02", d, hosts, "put the directive first in its route", "%s reaches %s before this directive", s.what, to)
	case len(hosts) == 0 && len(d.Hosts) > 0:
		d.flagged = true
		v.odd("W03", d, hosts, "put restwarden into the site for all other hosts, too",
			"this directive is for %s only: with another host, %s, which is a REST call, reaches %s", all(d.Hosts), s.what, to)
	default:
		d.flagged = true
		v.leftOut(d, s, hosts, "and it reaches "+to)
	}
}

func (v *survey) leftOut(d *Directive, s *sample, hosts []string, then string) {
	v.odd("W03", d, hosts, "let the directive stand without a matcher, outside of handle blocks",
		"the matchers around this directive leave out %s, which is a REST call, %s", s.what, then)
}

// stops tells whether requests like s would come to d if nothing answered them before.
func (v *survey) stops(d *Directive, s *sample) bool {
	for _, at := range d.visits {
		if q := (query{facts: at.facts, groups: at.groups, like: s}); len(q.cover(at.cubes).closed) > 0 {
			return true
		}
	}
	return false
}

// end reports calls that nothing answers and that d leaves out: whoever adds an answer
// later adds a hole.
func (v *survey) end(at *visit) {
	for _, f := range at.facts {
		d := f.guard
		if f.kind != guarded || d.flagged {
			continue
		}
		for _, s := range v.callsTo(d, at) {
			q := query{facts: at.facts, groups: at.groups, guards: true, like: s}
			if open := q.cover(at.cubes).open; len(open) > 0 && q.misses(f.cube) && slices.ContainsFunc(d.visits, at.shares) {
				d.flagged = true
				v.leftOut(d, s, sites(open, at), "though nothing answers it yet")
				break
			}
		}
	}
}

// sites returns the hosts that a visit's open requests are to.
func sites(open []string, at *visit) []string {
	if slices.Contains(open, "") {
		return at.hosts
	}
	return distinct(open)
}

func all(hosts []string) string {
	if len(hosts) == 0 {
		return "a site for all hosts"
	}
	return strings.Join(hosts, ", ")
}
