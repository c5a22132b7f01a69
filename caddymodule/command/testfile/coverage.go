package testfile

import (
	"slices"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// note notes which rules a run was decided by: the rule that refused, and those of access
// that let the call go on.
func (r *Runner) note(result *dryrun.Result) {
	if r.decided == nil {
		r.decided = map[decider]bool{}
	}
	if d := result.Decision; d != nil {
		r.decided[decider{d.Rule, d.At}] = true
	}
	if rule := result.Decided; rule != nil {
		r.decided[decider{rule.Rule, rule.At}] = true
	}
	for _, policy := range result.Policies {
		if policy.Name != "access" || policy.Verdict != string(dryrun.Pass) {
			continue
		}
		for _, rule := range policy.Rules {
			if rule.Matched {
				r.decided[decider{rule.Rule, rule.At}] = true
			}
		}
	}
}

// Untested returns the rules that no test has been decided by. A proof decides by none: it
// speaks of calls, not of rules.
func (r *Runner) Untested() []dryrun.Rule {
	var found []dryrun.Rule
	seen := map[decider]bool{}
	for _, rule := range r.Gateway.Rules() {
		key := decider{rule.Rule, rule.At}
		if !r.decided[key] && !seen[key] {
			seen[key] = true
			found = append(found, dryrun.Rule{Rule: rule.Rule, At: rule.At, Imported: rule.Imported})
		}
	}
	slices.SortStableFunc(found, func(a, b dryrun.Rule) int { return routing.ComparePlaces(a.At, b.At) })
	return found
}
