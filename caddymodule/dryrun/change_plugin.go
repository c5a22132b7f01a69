package dryrun

import (
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	ratelimit "github.com/restwarden/restwarden/policies/rate_limit"
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
func opening(o *openings.Opening, platform platforms.Platform, before string) candidate {
	try := candidate{line: o.Line, before: before}
	if o.Risk != nil {
		try.risk = o.Risk.Reason()
	}
	if o.Need == nil {
		try.rules = []policy.Rule{o.Rule}
		return try
	}
	options, _ := access.ExpandLine(o.Line, platform) // of the catalogue itself
	for _, option := range options {
		if len(option.Args) != 3 || option.Args[0] == "plugin" {
			continue // the line itself
		}
		methods, routes := policy.MethodsAndRoutes(option.Args[1:])
		switch option.Name {
		case "allow":
			try.rules = append(try.rules, policy.Rule{Allow: option.Args[0], Methods: methods, Routes: routes, From: option.From})
		case "rate_limit":
			try.limits = append(try.limits, &ratelimit.RateLimit{Rate: option.Args[0], Methods: methods, Routes: routes, From: option.From})
		}
	}
	return try
}
