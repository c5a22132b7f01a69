// Package condition decides whether a call keeps to the conditions in the block of a rule: which parameters it may
// carry and with which values, from where it comes, and when (docs/policies/access, "Conditions").
//
// Conditions are an engine for rules of any policy. They are judged on what the platform would be handed, in every
// place that it might take a parameter from, and hold only where that is certain.
package condition

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/typo"
)

// Conditions are the conditions of one rule. All of them must hold. The zero value has none.
type Conditions struct {
	// Only are the parameters that a call which writes may carry; nil for any. Names of members are behind dots.
	Only []string `json:"only,omitempty"`
	// Members are what parameters, and members of them, are compared with.
	Members []Comparison `json:"members,omitempty"`
	// Optional are the members that a comparison lets be absent.
	Optional []string `json:"optional,omitempty"`
	// From are the networks that a client's address is in, in CIDR form.
	From []string `json:"from,omitempty"`
	// Between are hours of the day, "08:00-18:00", or with a zone behind them, "08:00-18:00 Europe/Berlin".
	Between string `json:"between,omitempty"`

	only     call.Names
	networks []netip.Prefix
	hours    hours
}

// Words are the words that begin a condition. Any other begins a comparison.
var Words = []string{"only", "optional", "from", "between"}

// Compile checks the conditions. Reads tells that the rule has methods that write nothing alone.
func (c *Conditions) Compile(reads bool) error {
	if err := c.compileMembers(reads); err != nil {
		return err
	}
	c.networks = nil
	for _, text := range c.From {
		network, err := parseNetwork(text)
		if err != nil {
			return err
		}
		c.networks = append(c.networks, network)
	}
	var err error
	c.hours, err = parseHours(c.Between)
	return err
}

var errOnlyWrites = errors.New("only is about calls that write, and the rule has no method that does")

func (c *Conditions) compileMembers(reads bool) error {
	if c.Only != nil && reads {
		return errOnlyWrites
	}
	c.only = call.Names{}
	for _, text := range c.Only {
		path, err := parsePath(text)
		if err != nil {
			return err
		}
		add(c.only, path)
	}
	for i := range c.Members {
		m := &c.Members[i]
		if err := m.compile(); err != nil {
			return err
		}
		switch {
		case slices.ContainsFunc(c.Members[:i], func(o Comparison) bool { return o.Member == m.Member && o.Is == m.Is }):
			return fmt.Errorf("%s %s stands twice", m.Member, m.Is)
		case c.Only != nil && !has(c.only, m.path):
			return fmt.Errorf("%s is compared, and only does not name it", m.Member)
		}
		m.optional = slices.Contains(c.Optional, m.Member)
	}
	for _, text := range c.Optional {
		if !slices.ContainsFunc(c.Members, func(m Comparison) bool { return m.Member == text }) {
			return fmt.Errorf("optional %s: nothing compares it%s", text, hint(text, c.Members))
		}
	}
	return nil
}

// hint names the compared member that somebody may have meant.
func hint(text string, members []Comparison) string {
	var names []string
	for _, m := range members {
		names = append(names, m.Member)
	}
	if near := typo.Hint(text, names...); near != "" {
		return ": " + near
	}
	return ""
}

// add adds a path to names. A name without members behind it allows all of them.
func add(names call.Names, path []string) {
	for i, name := range path {
		below, listed := names[name]
		switch {
		case listed && below == nil:
			return
		case i == len(path)-1:
			names[name] = nil
			return
		case !listed:
			below = call.Names{}
			names[name] = below
		}
		names = below
	}
}

// has tells whether names allow what a path leads to.
func has(names call.Names, path []string) bool {
	for _, name := range path {
		below, listed := names[name]
		if below == nil {
			return listed
		}
		names = below
	}
	return true
}

// parsePath takes the names of a member apart.
func parsePath(text string) ([]string, error) {
	path := strings.Split(text, ".")
	switch {
	case slices.Contains(path, ""):
		return nil, fmt.Errorf("%q is not the name of a member", text)
	case len(path) > call.MaxPath:
		return nil, fmt.Errorf("%s: a member is at most %d names deep", text, call.MaxPath)
	}
	return path, nil
}

func (c *Conditions) fromLine() string    { return "from " + strings.Join(c.From, " ") }
func (c *Conditions) betweenLine() string { return "between " + c.Between }

func quotedList(names []string, separator string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quoted(name)
	}
	return strings.Join(all, separator)
}
