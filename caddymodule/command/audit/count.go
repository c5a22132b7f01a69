package audit

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/plugins"
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
	text := fmt.Sprintf("%d of %d endpoints", c.All, c.All+c.Some+c.None+c.Unknown)
	if c.Some > 0 {
		text += fmt.Sprintf(", %d in part", c.Some)
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
		if n := &p.Needed[i]; slices.Contains(plugins.DefaultGroups, n.Group) {
			needed++
			if !p.lacks(n) && n.Now != None {
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

// Writes counts the endpoints that callers without a login may write to.
func (n *Namespace) Writes() (count int) {
	for i := range n.Routes {
		for _, m := range n.Routes[i].Methods {
			if writes(m.Method) && m.Anonymous != None {
				count++
			}
		}
	}
	return count
}
