package audit

import (
	"fmt"
	"slices"
)

// String returns "all", "none", "12/30", or "12/30~" where of some endpoints only a part is
// reached, or it is not known.
func (c *Count) String() string {
	total := c.All + c.Some + c.None + c.Unknown
	switch {
	case total == 0:
		return "-"
	case c.All == total:
		return string(All)
	case c.None == total:
		return string(None)
	case c.Some+c.Unknown > 0:
		return fmt.Sprintf("%d/%d~", c.All, total)
	}
	return fmt.Sprintf("%d/%d", c.All, total)
}

// words writes out a count.
func (c *Count) words() string {
	return fmt.Sprintf("%d of %d endpoints%s", c.All, c.All+c.Some+c.None+c.Unknown, c.More())
}

// More says what is not counted as open: ", and 2 in part", or "".
func (c *Count) More() (text string) {
	if c.Some > 0 {
		text += fmt.Sprintf(", and %d in part", c.Some)
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf(", and of %d it is not known", c.Unknown)
	}
	return text
}

// closed is the reach of what should be open, in words.
func (r Reach) closed() string {
	return map[Reach]string{All: "open", Some: "closed in part", None: "closed", Unknown: "not known"}[r]
}

// opened is the reach of what should be closed.
func (r Reach) opened() string {
	return map[Reach]string{All: "open", Some: "open in part", None: "closed", Unknown: "not known"}[r]
}

// Opened counts the rows that the plugin needs, and those that are open, but for apps and
// for setup.
func (p *Plugin) Opened() (needed, open int) {
	for i := range p.Needed {
		if n := &p.Needed[i]; n.Group.Default() {
			needed++
			if !p.lacks(n) && (n.Signed || n.Now != None) {
				open++
			}
		}
	}
	return needed, open
}

// Exposed counts the risky rows, and those that are open, if only in part.
func (p *Plugin) Exposed() (risky, open int) {
	for i := range p.Risky {
		if p.Risky[i].Now != None {
			open++
		}
	}
	return len(p.Risky), open
}

// OpenHoles are the holes that callers without a login reach.
func (r *Report) OpenHoles() (open []Hole) {
	for i := range r.Holes {
		if r.Holes[i].Now != None {
			open = append(open, r.Holes[i])
		}
	}
	return open
}

// Namespace are the routes of one namespace.
type Namespace struct {
	Name     string
	Totals   Totals
	Proposed Count // of callers without a login
	Routes   []Route
}

// Namespaces are the routes by their namespaces.
func (r *Report) Namespaces() (all []Namespace) {
	for i := range r.Routes {
		if n := len(all); n == 0 || all[n-1].Name != r.Routes[i].Namespace {
			all = append(all, Namespace{Name: r.Routes[i].Namespace})
		}
		ns := &all[len(all)-1]
		ns.Routes = append(ns.Routes, r.Routes[i])
	}
	for i := range all {
		all[i].Totals = totals(all[i].Routes)
		for j := range all[i].Routes {
			for _, m := range all[i].Routes[j].Methods {
				all[i].Proposed.add(m.Proposed)
			}
		}
	}
	return all
}

// count counts the endpoints of the namespace that are of a kind.
func (n *Namespace) count(is func(*Method) bool) (count int) {
	for i := range n.Routes {
		for j := range n.Routes[i].Methods {
			if is(&n.Routes[i].Methods[j]) {
				count++
			}
		}
	}
	return count
}

// Writes counts the endpoints for writing that let callers without a login through.
func (n *Namespace) Writes() (count int) {
	return n.count(func(m *Method) bool { return writes(m.Method) && m.Anonymous != None })
}

// WritesShut counts the endpoints for writing that let callers without a login through now,
// and not with the proposal.
func (r *Report) WritesShut() (count int) {
	for _, n := range r.Namespaces() {
		count += n.count(func(m *Method) bool { return writes(m.Method) && m.Anonymous != None && m.Proposed == None })
	}
	return count
}

// Shut is a namespace of which the proposal closes something to callers without a login.
type Shut struct {
	Name   string
	Writes int // endpoints for writing among what is closed
}

// ShutUnknown are the namespaces that the catalogue does not know and the proposal closes.
func (r *Report) ShutUnknown() (all []Shut) {
	for _, n := range r.Namespaces() {
		closes := func(m *Method) bool { return m.Anonymous != None && m.Proposed != m.Anonymous }
		if slices.Contains(r.UnknownNamespaces, n.Name) && n.count(closes) > 0 {
			all = append(all, Shut{n.Name, n.count(func(m *Method) bool { return closes(m) && writes(m.Method) })})
		}
	}
	return all
}

// String returns "acme/v1 (1 endpoint for writing)".
func (s Shut) String() string {
	if s.Writes == 1 {
		return s.Name + " (1 endpoint for writing)"
	}
	return fmt.Sprintf("%s (%d endpoints for writing)", s.Name, s.Writes)
}
