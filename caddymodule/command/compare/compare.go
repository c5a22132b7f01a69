package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Side is one of two configurations.
type Side struct {
	Name   string // of the file
	Config *dryrun.Config
}

// Options are what to compare.
type Options struct {
	// Sites are the names of those that count, with * for any text; none for all.
	Sites []string
	// Index has the routes of the sites; nil where they are not known.
	Index *index.Index
	// Switches are in force at sites of the old configuration. Whether they stay is found out.
	Switches []Switch
	// Step tells of each site; it may be nil.
	Step func(site string)
}

// comparer compares two configurations.
type comparer struct {
	Options
	report        *Report
	before, after *side
	compared      map[pair]*compared
}

// side is what is known of a configuration.
type side struct {
	Side
	homes []dryrun.Home
	parts *parts
}

// pair are the chains of a site, before and after.
type pair struct{ before, after *policy.Chain }

// compared is what has been found for a pair.
type compared struct {
	*diff.Comparison
	holders []diff.Holder
	changes []diff.Change
	err     error
}

// New compares two configurations. The Counter counts calls of logs while the configurations are open. The error says that one of
// them cannot be asked at all.
func New(ctx context.Context, before, after Side, o Options) (*Report, *Counter, error) {
	c := comparer{Options: o, compared: map[pair]*compared{}, report: &Report{
		Version: 1, Old: before.Name, New: after.Name, Changes: []Change{}, Beside: []Beside{},
		Sites: Sites{Changed: []string{}, Added: []Added{}, Removed: []Removed{}, Renamed: []Renamed{}, NotCompared: []NotCompared{}},
	}}
	var err error
	hidden := secrets{}
	if c.before, err = read(ctx, before, hidden); err != nil {
		return nil, nil, err
	}
	if c.after, err = read(ctx, after, hidden); err != nil {
		return nil, nil, err
	}
	if err := c.named(); err != nil {
		return nil, nil, err
	}
	c.applications()
	if err := errors.Join(c.sites(ctx), c.unrooted(ctx)); err != nil {
		return nil, nil, err
	}
	for _, s := range o.Switches {
		if s.Stays = s.Site == "" || c.after.home(s.Site) != nil; s.Site == "" || c.wanted(s.Site) {
			c.report.Switches = append(c.report.Switches, s)
		}
	}
	slices.SortStableFunc(c.report.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(diff.Rank(a.Effect), diff.Rank(b.Effect)), cmp.Compare(a.danger, b.danger))
	})
	return c.report, &Counter{comparer: &c, kinds: map[kind][]diff.Effect{}, groups: map[Group]*clients{}}, nil
}

// sites compares all sites that are wanted.
func (c *comparer) sites(ctx context.Context) error {
	var gone, come []dryrun.Home
	for i := range c.before.homes {
		old := &c.before.homes[i]
		if !c.wanted(old.Name) {
			continue
		}
		now := c.after.home(old.Name)
		if now == nil {
			gone = append(gone, *old)
			continue
		}
		if err := c.site(ctx, old, now, old.Name); err != nil {
			return err
		}
	}
	for _, now := range c.after.homes {
		if c.wanted(now.Name) && c.before.home(now.Name) == nil {
			come = append(come, now)
		}
	}
	return c.renamed(ctx, gone, come)
}

// unrooted adds directives that no request for the REST root of a site reaches, and that judge calls of no known site, if one
// side alone has them.
func (c *comparer) unrooted(ctx context.Context) error {
	var left [2]map[string]string
	for i, s := range []*side{c.before, c.after} {
		for _, home := range s.homes {
			s.parts.of(home.At, home.Imported)
			others, err := s.Config.Beside(ctx, home.ServedSite, home.Address)
			if err != nil {
				return err
			}
			for _, other := range others {
				s.parts.of(other.At, other.Imported)
			}
		}
		left[i] = s.parts.left()
	}
	for i, word := range []string{"is gone, or says something else", "is new, or says something else"} {
		for _, text := range slices.Sorted(maps.Keys(left[i])) {
			if at := left[i][text]; left[1-i][text] == "" {
				c.report.beside(Beside{What: "layout", Text: fmt.Sprintf("the directive at %s, which gets no request for a REST root, %s", at, word), Effects: both}, "")
			}
		}
	}
	return nil
}

// wanted tells whether a site counts.
func (c *comparer) wanted(site string) bool {
	return len(c.Sites) == 0 || slices.ContainsFunc(c.Sites, func(pattern string) bool { return fits(pattern, site) })
}

// fits tells whether a name fits a pattern with * for any text.
func fits(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, begins := strings.CutPrefix(name, first)
	for i := 0; begins && i <= len(name); i++ {
		if fits(rest, name[i:]) {
			return true
		}
	}
	return false
}

// named checks that there are the sites that are named.
func (c *comparer) named() error {
	var names []string
	for _, home := range slices.Concat(c.before.homes, c.after.homes) {
		names = append(names, home.Name)
	}
	for _, pattern := range c.Sites {
		if !slices.ContainsFunc(names, func(name string) bool { return fits(pattern, name) }) {
			return fmt.Errorf("--site: no configuration guards %q%s", pattern, policy.Prefixed(": ", typo.Hint(pattern, names...)))
		}
	}
	return nil
}

func read(ctx context.Context, s Side, hidden secrets) (*side, error) {
	homes, err := s.Config.Homes(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	parts, err := partsOf(s.Config, hidden)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return &side{s, homes, parts}, nil
}

// home returns the site of a name, or nil.
func (s *side) home(name string) *dryrun.Home {
	if i := slices.IndexFunc(s.homes, func(h dryrun.Home) bool { return h.Name == name }); i >= 0 {
		return &s.homes[i]
	}
	return nil
}

// renamed finds sites that have another name, and notes those that have gone or come.
func (c *comparer) renamed(ctx context.Context, gone, come []dryrun.Home) error {
	for i := range gone {
		old := &gone[i]
		site, answers, err := c.after.Config.Serving(ctx, old.Address)
		if err != nil {
			return err
		}
		if site != nil {
			c.report.Sites.Renamed = append(c.report.Sites.Renamed, Renamed{old.Name, site.Name})
			now := cmp.Or(c.after.home(site.Name), &dryrun.Home{ServedSite: site, Address: old.Address})
			come = slices.DeleteFunc(come, func(h dryrun.Home) bool { return h.Name == site.Name })
			if err := c.site(ctx, old, now, site.Name); err != nil {
				return err
			}
			continue
		}
		c.report.Sites.Removed = append(c.report.Sites.Removed, Removed{old.Name, answers})
	}
	for i := range come {
		_, answered, err := c.before.Config.Serving(ctx, come[i].Address)
		if err != nil {
			return err
		}
		c.report.Sites.Added = append(c.report.Sites.Added, Added{come[i].Name, answered})
	}
	return nil
}

// site compares one site.
func (c *comparer) site(ctx context.Context, old, now *dryrun.Home, name string) error {
	if c.Step != nil {
		c.Step(name)
	}
	changes, besides := len(c.report.Changes), len(c.report.Beside)
	counted := c.count()
	if why := incomparable(old, now); why != "" {
		c.report.Sites.NotCompared = append(c.report.Sites.NotCompared, NotCompared{name, why})
		return nil
	}
	c.around(old, now, name)
	if err := errors.Join(c.calls(ctx, old, now, name), c.others(ctx, old, now, name)); err != nil {
		return err
	}
	if len(c.report.Changes) == changes && len(c.report.Beside) == besides && c.count() == counted {
		c.report.Sites.Unchanged++
	} else {
		c.report.Sites.Changed = append(c.report.Sites.Changed, name)
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
