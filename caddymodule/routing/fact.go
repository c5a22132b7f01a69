package routing

import (
	"slices"
)

// atom is a matcher that held for a request at one point of its way. The versions say
// which of the changes that handlers make to a request came before.
type atom struct {
	*matcher
	host, path, other int
	// once tells evaluations apart that need not agree: of matchers that are not pure.
	once int
}

// version tells apart what each part of a request was at two places; 0 is what the client
// sent.
type version struct{ host, path, other int }

// change gives the changed parts a number of their own, from next.
func (v *version) change(p parts, next *int) {
	*next++
	if p&host != 0 {
		v.host = *next
	}
	if p&path != 0 {
		v.path = *next
	}
	if p&other != 0 {
		v.other = *next
	}
}

// atomAt returns m at version v. next numbers what need not agree.
func atomAt(m *matcher, v version, next *int) atom {
	a := atom{matcher: m}
	if m.uses&host != 0 {
		a.host = v.host
	}
	if m.uses&path != 0 {
		a.path = v.path
	}
	if m.uses&other != 0 {
		a.other = v.other
	}
	if !m.pure {
		*next++
		a.once = *next
	}
	return a
}

// implies tells whether b holds for every request for which a holds. It may say no where
// it does not know.
func (a atom) implies(b atom) bool {
	if a.kind != b.kind || a.host != b.host || a.path != b.path || a.other != b.other || a.once != b.once {
		return false
	}
	switch {
	case a.matcher == b.matcher || a.text == b.text:
		return true
	case a.kind == "host" && a.once == 0:
		return impliesHosts(a.hosts, b.hosts)
	case a.kind == "path" && a.once == 0:
		return impliesPaths(a.paths, b.paths)
	}
	return false
}

// excludes tells whether no request holds a and b. It may say no where it does not know.
func (a atom) excludes(b atom) bool {
	if a.kind != b.kind || a.once != 0 || b.once != 0 || a.host != b.host || a.path != b.path {
		return false
	}
	switch a.kind {
	case "host":
		return disjointHosts(a.hosts, b.hosts)
	case "path":
		return disjointPaths(a.paths, b.paths)
	}
	return false
}

// cube is a set of requests: those for which all of its atoms hold.
type cube []atom

// with returns c and more atoms, without those that say nothing new.
func (c cube) with(more ...atom) cube {
	all := slices.Clip(c)
	for _, a := range more {
		if !a.always() && !all.says(a) {
			all = append(all, a)
		}
	}
	return all
}

// says tells whether a holds for every request of c, as far as one atom of c tells.
func (c cube) says(a atom) bool {
	return slices.ContainsFunc(c, func(b atom) bool { return b.implies(a) })
}

// within tells whether every request of c is one of b's.
func (c cube) within(b cube) bool {
	return !slices.ContainsFunc(b, func(a atom) bool { return !c.says(a) })
}

// empty tells whether c certainly holds no request.
func (c cube) empty() bool {
	for i, a := range c {
		if a.kind == "host" && len(a.hosts) == 0 && a.pure || slices.ContainsFunc(c[i+1:], a.excludes) {
			return true
		}
	}
	return false
}

// kind says what a fact says of its requests.
type kind int

const (
	stopped kind = iota // they go no further
	taken               // a route of the group has taken them: they skip the others
	guarded             // they have passed a directive
	altered             // they have been changed behind a directive
)

// fact says something of all requests in a cube, wherever they are behind the place that
// it was found at.
type fact struct {
	cube
	kind  kind
	group string
	by    string     // who answers them
	plain bool       // the answer is Caddy's own redirect or refusal, and leads to no platform
	guard *Directive // of guarded and altered

	alters []alteration // of altered
}

// query asks whether facts cover requests.
type query struct {
	facts  []fact
	groups []string // whose routes they have to be taken by
	guards bool     // guarded requests count, too
	like   *sample  // only requests like this one
	steady bool     // no handler changes requests
}

// is tells whether a holds for the requests that q is about.
func (q *query) is(a atom) truth {
	if q.steady {
		a.path, a.other = 0, 0
	}
	return a.of(q.like)
}

func (q *query) counts(f *fact) bool {
	return f.kind == stopped || f.kind == guarded && q.guards || f.kind == taken && slices.Contains(q.groups, f.group)
}

// covering returns the fact that covers c, if a single one does.
func (q *query) covering(c cube) *fact {
	for i := range q.facts {
		if f := &q.facts[i]; q.counts(f) && q.holds(f, c) {
			return f
		}
	}
	return nil
}

func (q *query) holds(f *fact, c cube) bool {
	return !slices.ContainsFunc(f.cube, func(a atom) bool {
		is := q.is(a)
		return is == no || is == maybe && !c.says(a)
	})
}

// coverage is how far facts cover a set of requests.
type coverage struct {
	closed, open []string // hosts; "" stands for any
	by           *fact    // one of those that cover
	leads        bool     // one of those may lead to a platform
}

// cover tells for each host of the cubes whether facts cover the requests to it.
func (q *query) cover(cubes []cube) coverage {
	var all coverage
	for _, c := range cubes {
		if c.empty() || q.misses(c) {
			continue
		}
		if f := q.covering(c); f != nil {
			all.closed, all.by, all.leads = append(all.closed, c.hosts()...), f, all.leads || !f.plain
			continue
		}
		q.coverEach(c, &all)
	}
	return all
}

// coverEach splits c by the hosts of its innermost host matcher.
func (q *query) coverEach(c cube, all *coverage) {
	i := c.innermost()
	if i < 0 || len(c[i].hosts) < 2 {
		all.open = append(all.open, c.hosts()...)
		return
	}
	for _, h := range c[i].hosts {
		one := *c[i].matcher
		one.hosts, one.text = []string{h}, h
		part := slices.Clone(c)
		part[i].matcher = &one
		if part.empty() {
			continue
		}
		if f := q.covering(part); f != nil {
			all.closed, all.by, all.leads = append(all.closed, h), f, all.leads || !f.plain
			continue
		}
		all.open = append(all.open, h)
	}
}

// misses tells whether no request of c is like the sample.
func (q *query) misses(c cube) bool {
	return slices.ContainsFunc(c, func(a atom) bool { return q.is(a) == no })
}

// innermost returns the index of the last atom that names hosts, or -1.
func (c cube) innermost() int {
	for i, a := range slices.Backward(c) {
		if a.kind == "host" && a.pure {
			return i
		}
	}
	return -1
}

func (c cube) hosts() []string {
	if i := c.innermost(); i >= 0 {
		return c[i].hosts
	}
	return []string{""}
}
