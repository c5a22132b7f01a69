package compare

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/diff"
)

// wanted tells whether what answers at a host counts, by either side.
func (c *comparer) wanted(host string, homes ...*dryrun.Home) bool {
	s := sitename.Site{Names: []string{host}}
	for _, home := range homes {
		if home != nil {
			s.Names, s.Tags = append(s.Names, home.Name), append(s.Tags, home.Tags...)
		}
	}
	return c.Wants(s)
}

// wantsNamed tells whether the site of a name counts.
func (c *comparer) wantsNamed(name string) bool {
	return c.wanted(name, c.before.home(name), c.after.home(name))
}

// named checks that there are the sites that are named, and any at all.
func (c *comparer) named() error {
	homes := slices.Concat(c.before.homes, c.after.homes)
	if len(homes) == 0 && len(c.before.parts.said)+len(c.after.parts.said) == 0 {
		return errors.New("neither configuration has the directive restwarden")
	}
	var all []sitename.Site
	for _, home := range homes {
		all = append(all, sitename.Site{Names: append([]string{home.Name}, home.Policies.Hosts...), Tags: home.Tags})
	}
	return c.Check(all)
}

// home returns the site of a name, or nil.
func (s *side) home(name string) *dryrun.Home {
	if i := slices.IndexFunc(s.homes, func(h dryrun.Home) bool { return h.Name == name }); i >= 0 {
		return &s.homes[i]
	}
	return nil
}

// addresses returns where the sites of a side are called, and the other hosts of its servers, each once.
func (s *side) addresses() (all []string) {
	for i := range s.homes {
		h := &s.homes[i]
		at := addressesOf(h)
		if s.at == nil {
			s.at = map[string]*dryrun.Home{}
		}
		for _, address := range at {
			if s.at[address] == nil {
				s.at[address] = h
				all = append(all, address)
			}
		}
	}
	return all
}

// addressesOf returns the addresses of a site, one for each of its hosts.
func addressesOf(h *dryrun.Home) (all []string) {
	u, err := url.Parse(h.Address)
	if err != nil || len(h.Policies.Hosts) == 0 {
		return []string{h.Address}
	}
	for _, host := range h.Policies.Hosts {
		if strings.Contains(host, "{") {
			continue // nobody knows which one
		}
		at := *u
		at.Host = strings.ReplaceAll(host, "*", "any")
		if port := u.Port(); port != "" {
			at.Host += ":" + port
		}
		all = append(all, at.String())
	}
	return all
}

// serving returns the site that answers at an address, or else what does in its place; "" for nothing.
func (s *side) serving(ctx context.Context, address string) (*dryrun.Home, string, error) {
	if home := s.at[address]; home != nil {
		return home, "", nil
	}
	site, answers, err := s.Config.Serving(ctx, address)
	if err != nil || site == nil {
		return nil, answers, err
	}
	i := slices.IndexFunc(s.homes, func(h dryrun.Home) bool { return h.Name == site.Name && h.Chain == site.Chain })
	if i < 0 {
		return &dryrun.Home{ServedSite: site, Address: address}, "", nil
	}
	return &s.homes[i], "", nil
}

// sites compares all sites that are wanted: what answers at each address of either side.
func (c *comparer) sites(ctx context.Context) error {
	type rules struct{ before, after string }
	known, added := map[rules]bool{}, map[string]*dryrun.Home{}
	addresses := slices.Concat(c.before.addresses(), c.after.addresses())
	for _, address := range append(addresses, c.after.parts.bare(addresses, c.before.parts)...) {
		if host, at := strings.CutPrefix(address, socket); at {
			c.report.beside(Beside{What: "layout", Text: host + " is new, at a socket: what answers there is not tried", Effects: both[:1]}, "")
			continue
		}
		old, answered, err := c.before.serving(ctx, address)
		if err != nil {
			return err
		}
		now, answers, err := c.after.serving(ctx, address)
		if err != nil {
			return err
		}
		if !c.wanted(hostOf(address), old, now) {
			continue
		}
		switch {
		case old == nil && now == nil:
			c.bare(address, answered, answers)
		case now == nil:
			c.report.Sites.Removed = append(c.report.Sites.Removed, Removed{hostOf(address), answers})
		case old == nil:
			c.report.Sites.Added = append(c.report.Sites.Added, Added{hostOf(address), answered})
			added[hostOf(address)] = now
		default:
			pair := rules{nameOf(old) + old.Said, nameOf(now) + now.Said}
			if known[pair] {
				continue
			}
			known[pair] = true
			if err := c.site(ctx, &meeting{old: old, now: now, host: hostOf(address), name: c.called(old, now, address)}); err != nil {
				return err
			}
		}
	}
	c.report.Sites.Added = slices.DeleteFunc(c.report.Sites.Added, func(a Added) bool { // one more name of a known site
		return a.Answered == "" && c.met[added[a.Site]]
	})
	return nil
}

// bare adds a host that neither side guards, and that the new one alone leads to a platform.
func (c *comparer) bare(address, answered, answers string) {
	if answered == "" && dryrun.Leads(answers) {
		c.report.Sites.Unguarded = append(c.report.Sites.Unguarded, Removed{hostOf(address), answers})
	}
}

// called names a site before and after. Where it is called otherwise, what is kept under the old name begins anew.
func (c *comparer) called(old, now *dryrun.Home, address string) string {
	if old.Name == now.Name {
		if c.before.several(old.Name) || c.after.several(now.Name) {
			return hostOf(address)
		}
		return now.Name
	}
	if c.after.home(old.Name) != nil {
		return hostOf(address) // it has come to another site
	}
	renamed := Renamed{old.Name, now.Name}
	if !slices.Contains(c.report.Sites.Renamed, renamed) {
		c.report.Sites.Renamed = append(c.report.Sites.Renamed, renamed)
	}
	return now.Name
}

// several tells whether directives with several rules guard a site of one name, on several ports.
func (s *side) several(name string) bool {
	n := 0
	for i := range s.homes {
		if s.homes[i].Name == name {
			n++
		}
	}
	return n > 1
}

func nameOf(h *dryrun.Home) string {
	if h == nil {
		return ""
	}
	return h.Name
}

// hostOf returns the host of an address, with its port unless that is usual, and its path.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return rest
}

// site compares one site.
func (c *comparer) site(ctx context.Context, m *meeting) error {
	if c.Step != nil {
		c.Step(m.name)
	}
	changes, besides := len(c.report.Changes), len(c.report.Beside)
	counted := c.count()
	if why := incomparable(m.old, m.now); why != "" {
		c.report.Sites.NotCompared = append(c.report.Sites.NotCompared, NotCompared{m.name, why})
		return nil
	}
	c.met[m.old], c.met[m.now] = true, true
	if err := c.lay(ctx, m); err != nil {
		return err
	}
	c.around(m)
	if err := errors.Join(c.calls(ctx, m), c.others(m)); err != nil {
		return err
	}
	if len(c.report.Changes) == changes && len(c.report.Beside) == besides && c.count() == counted {
		c.report.Sites.Unchanged++
	} else if !slices.Contains(c.report.Sites.Changed, m.name) {
		c.report.Sites.Changed = append(c.report.Sites.Changed, m.name)
	}
	return nil
}

// count counts the sites of all changes.
func (c *comparer) count() (n int) {
	for i := range c.report.Changes {
		n += len(c.report.Changes[i].Sites)
	}
	for i := range c.report.Beside {
		n += len(c.report.Beside[i].Sites)
	}
	return n
}

// incomparable says why the calls of a site have no common names before and after, or "".
func incomparable(old, now *dryrun.Home) string {
	before, after := old.Chain.Site().Platform.Name, now.Chain.Site().Platform.Name
	if before != after {
		return fmt.Sprintf("the platform was %s, and is %s: their routes have other names", before, after)
	}
	return ""
}

// unrooted adds directives that no request for the REST root of a site reaches, and that judge calls of no known site, if the
// two sides differ in them.
func (c *comparer) unrooted(ctx context.Context) error {
	for _, s := range []*side{c.before, c.after} {
		for i := range s.homes {
			if c.met[&s.homes[i]] {
				continue
			}
			w, err := s.way(ctx, &s.homes[i], s.homes[i].Policies.Hosts)
			if err != nil {
				return err
			}
			s.judged(&s.homes[i], w)
		}
	}
	at, was := c.before.parts.left()
	also, is := c.after.parts.left()
	if was == is {
		return nil
	}
	at = append(at, also...)
	slices.Sort(at)
	c.report.beside(Beside{
		What: "layout", Text: "directives that get no request for a REST root differ, or what leads to them: at " + strings.Join(slices.Compact(at), ", "), Effects: both,
	}, "")
	return nil
}

// judged notes that the directives on the way to a site are compared, or told of.
func (s *side) judged(home *dryrun.Home, w *way) {
	s.parts.of(home.Said)
	for _, other := range w.others {
		s.parts.of(other.Said)
	}
}

var both = []diff.Effect{diff.MayOpen, diff.MayClose}
