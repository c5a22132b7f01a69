package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/policy"
)

// explain says what decided on the rows at the gateway: of a refusal by its record, of a
// call that passed by a dry run, as "caddy restwarden explain" does it, on a site with
// this REST root.
func (d *runningDemo) explain(ctx context.Context, rows []*tried, root string) error {
	state, err := d.state()
	if err != nil {
		return err
	}
	var kept adminapi.Refusals[adminapi.Refusal]
	if err := d.ask(adminapi.Named(adminapi.RefusalsPath, state.Site), &kept); err != nil {
		return err
	}
	records := map[string]adminapi.Refusal{}
	for _, rec := range kept.Refusals {
		records[rec.RequestID] = rec
	}
	dry, err := dryrun.Load(dryrun.Options{JSON: d.config, Index: []byte(root)})
	if err != nil {
		return err
	}
	defer func() { _ = dry.Close() }() // its directory is in that of temporary files
	for _, t := range rows {
		rec, refused := records[t.guarded.answer.header.Get("X-Request-Id")]
		switch {
		case refused:
			t.refused, t.decided = true, policyAndRule(rec.Policy, rec.Rule, rec.Origin)
		case t.guarded.done:
			if t.decided, err = d.letIn(ctx, dry, t); err != nil {
				return fmt.Errorf("%s: %w", t.what, err)
			}
		default:
			t.decided = "the platform"
		}
	}
	return nil
}

// letIn says by a dry run what let the last request of a row in.
func (d *runningDemo) letIn(ctx context.Context, dry *dryrun.Config, t *tried) (string, error) {
	address, err := url.Parse(d.Gateway)
	if err != nil {
		return "", err
	}
	r := dryrun.Request{
		Raw: t.guarded.answer.request, Records: map[uint64]dryrun.RecordKind{},
		Abilities: map[string]dryrun.Ability{shopWord(d.Platform) + "/products-query": dryrun.Readonly},
	}
	r.Port, _ = strconv.Atoi(address.Port()) // it is the demo's own
	for _, id := range d.Orders {
		r.Records[uint64(id)] = dryrun.Order
	}
	if t.login != "" {
		if r.As, err = dryrun.ParseAs("role:" + site.RoleOf(t.login)); err != nil {
			return "", err
		}
	}
	result, err := dry.Run(ctx, r)
	switch {
	case err != nil:
		return "", err
	case result.Answer == dryrun.Page:
		return "no REST call", nil
	case result.Answer == dryrun.Refused:
		return "", fmt.Errorf("passed, and in the dry run %s refuses it", result.Decision.Policy)
	case result.Decision != nil: // by what only the running platform knows, such as a cart; or only observed
		return result.Decision.Policy, nil
	}
	decided := "default"
	if result.Decided != nil {
		decided = policyAndRule("access", result.Decided.Rule, result.Decided.Origin)
	}
	for _, p := range result.Policies {
		for _, rule := range p.Rules {
			if rule.Matched {
				decided = policyAndRule(p.Name, rule.Rule, rule.Origin)
			}
		}
	}
	return decided, nil
}

// policyAndRule names a policy, and the first words of its rule: the row says which call
// it is.
func policyAndRule(name, rule string, from policy.Origin) string {
	if from == policy.OriginBuiltIn {
		return name + ": built-in rule"
	}
	text := name
	for i, word := range strings.Fields(strings.TrimPrefix(strings.TrimPrefix(rule, name), ":")) {
		switch {
		case !ruleWord.MatchString(word):
			return text
		case i == 0:
			text += ":"
		case i == maxRuleWords:
			return text + "…"
		}
		text += " " + word
	}
	return text
}

// ruleWord matches what is no method, route or name in a rule.
var ruleWord = regexp.MustCompile(`^[a-z_]+$`)

// maxRuleWords keeps the table narrow.
const maxRuleWords = 2
