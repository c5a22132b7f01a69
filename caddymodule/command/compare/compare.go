package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// Side is one of two configurations.
type Side struct {
	Name   string // of the file
	Config *dryrun.Config
}

// Options are what to compare.
type Options struct {
	// Choice says which sites count, by the names, hosts and tags of either side.
	sitename.Choice
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
	asked         map[confirmation]Change
	met           map[*dryrun.Home]bool // that have been compared
	shown         map[[3]any][]Change   // by ways and chains, see lay
}

// side is what is known of a configuration.
type side struct {
	Side
	homes []dryrun.Home
	parts *parts
	at    map[string]*dryrun.Home // by the addresses of their hosts
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

// confirmation is what dry runs of a change depend on: the ways to the site, what its directives say beside access, and the change.
type confirmation struct{ ways, old, now, change string }

// New compares two configurations. The Counter counts calls of logs while the configurations are open. The error says that one of
// them cannot be asked at all.
func New(ctx context.Context, before, after Side, o Options) (*Report, *Counter, error) {
	c := comparer{Options: o, compared: map[pair]*compared{}, shown: map[[3]any][]Change{}, met: map[*dryrun.Home]bool{}, asked: map[confirmation]Change{}, report: &Report{
		Version: 1, Old: before.Name, New: after.Name, Changes: []Change{}, Beside: []Beside{},
		Sites: Sites{Changed: []string{}, Added: []Added{}, Removed: []Removed{}, Unguarded: []Removed{}, Renamed: []Renamed{}, NotCompared: []NotCompared{}},
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
	err = c.sites(ctx)
	if err == nil {
		err = c.unrooted(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, s := range o.Switches {
		unrooted := c.before.home(s.Site) == nil // of a directive that gets no request for a REST root
		if s.Stays = s.Site == "" || c.after.home(s.Site) != nil || unrooted && after.Config.Guards(s.Site); s.Site == "" || c.wantsNamed(s.Site) {
			c.report.Switches = append(c.report.Switches, s)
		}
	}
	slices.SortStableFunc(c.report.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(diff.Rank(a.Effect), diff.Rank(b.Effect)), cmp.Compare(a.danger, b.danger))
	})
	return c.report, &Counter{comparer: &c, kinds: map[kind][]diff.Effect{}, groups: map[Group]*clients{}}, nil
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
	return &side{Side: s, homes: homes, parts: parts}, nil
}
