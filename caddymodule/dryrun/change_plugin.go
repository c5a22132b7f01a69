package dryrun

import (
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/openings"
)

// guardAt is the directive at a place.
func (c *Config) guardAt(at string) *guard {
	for _, g := range c.guards {
		if g.at == at {
			return g
		}
	}
	return noGuard
}

// opening makes a candidate of a line. That of a plugin stands for several rules.
func opening(o *openings.Opening, platform call.Platform, before string) candidate {
	try := candidate{line: o.Line, before: before}
	if o.Risk != nil {
		try.risk = o.Risk.Reason()
	}
	if o.Need == nil {
		try.rules = []any{ruleOf(o.Rule)}
		return try
	}
	options, _ := access.ExpandLine(o.Line, platform) // of the catalogue itself
	for _, option := range options {
		if len(option.Args) != 3 || option.Args[0] == "plugin" {
			continue // the line itself
		}
		rule := map[string]any{"methods": anys(strings.Split(option.Args[1], ",")), "routes": []any{option.Args[2]}, "from": option.From}
		switch option.Name {
		case "allow":
			rule["allow"] = option.Args[0]
			try.rules = append(try.rules, rule)
		case "rate_limit":
			rule["rate"] = option.Args[0]
			try.limits = append(try.limits, rule)
		}
	}
	return try
}
