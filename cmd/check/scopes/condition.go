package scopes

import (
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Member is a parameter of a call, as it is meant.
type Member struct {
	Place Place
	Path  string // "status", "billing.email"
	Value Value
}

// Place is where a parameter stands.
type Place int

// The places.
const (
	JSON Place = iota
	Form
	Query
)

// Value is the value of a parameter: a text, or another value in JSON.
type Value struct {
	Text    string
	Literal bool // Text is JSON: a number, true, null
}

// holds tells whether the conditions of a line hold for a call.
func (l *Line) holds(c *Call) bool {
	if !within(l.From, c.Client) || l.Between.Shut {
		return false
	}
	if l.Only != nil && writes(c.Method) && slices.ContainsFunc(c.Members, l.forbids) {
		return false
	}
	for _, compared := range l.Compare {
		found := false
		for _, m := range c.Members {
			if m.Path != compared.Member || m.Place == Form && !writes(c.Method) {
				continue
			}
			if found = true; !compared.holds(m.Value) {
				return false
			}
		}
		if !found && !slices.Contains(l.Optional, compared.Member) {
			return false
		}
	}
	return true
}

// within tells whether an address is in one of the networks, of which none is everywhere.
func within(networks []string, client string) bool {
	return networks == nil || slices.ContainsFunc(networks, func(network string) bool {
		return netip.MustParsePrefix(network).Contains(netip.MustParseAddr(client))
	})
}

// beside are parameters that go with every call.
var beside = strings.Fields("_embed _envelope _fields _locale _wpnonce")

func (l *Line) forbids(m Member) bool {
	return !slices.Contains(l.Only, m.Path) && !slices.Contains(beside, m.Path)
}

var decimal = regexp.MustCompile(`\A-?[0-9]+(?:\.[0-9]*)?\z|\A-?\.[0-9]+\z`)

var number = regexp.MustCompile(`\A-?[0-9]`)

func (c *Comparison) holds(v Value) bool {
	if v.Literal && !number.MatchString(v.Text) {
		return false // null, true, a list
	}
	if c.Is == "=" {
		return slices.Contains(c.Values, v.Text)
	}
	if !v.Literal && !decimal.MatchString(v.Text) {
		return false
	}
	have, ok := new(big.Rat).SetString(v.Text)
	bound, valid := new(big.Rat).SetString(c.Values[0])
	if !ok || !valid {
		return false
	}
	if c.Is == "<=" {
		return have.Cmp(bound) <= 0
	}
	return have.Cmp(bound) >= 0
}
