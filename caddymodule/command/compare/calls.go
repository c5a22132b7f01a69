package compare

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// calls adds the calls of a site that are decided otherwise.
func (c *comparer) calls(ctx context.Context, m *meeting) error {
	found := c.pair(m.old.Chain, m.now.Chain)
	if found.err != nil {
		c.report.Sites.NotCompared = append(c.report.Sites.NotCompared, NotCompared{m.name, found.err.Error()})
		return nil //nolint:nilerr // the report has it
	}
	for i := range found.changes {
		change, err := c.confirmed(ctx, m, found, i)
		if err != nil {
			return err
		}
		c.report.add(change, m.name)
	}
	return nil
}

// confirmed returns a change as dry runs show it. Sites to which requests come alike share it.
func (c *comparer) confirmed(ctx context.Context, m *meeting, found *compared, i int) (Change, error) {
	change := changeOf(&found.changes[i])
	id := confirmation{m.was.kind + m.is.kind, c.before.parts.beside[m.old.Said], c.after.parts.beside[m.now.Said], change.id()}
	if change, known := c.asked[id]; known {
		return change, nil
	}
	if err := c.confirm(ctx, m.old, m.now, found, i, &change); err != nil {
		return Change{}, err
	}
	change.byMode = access.StandingOf(m.old.Chain).Observes != access.StandingOf(m.now.Chain).Observes
	if !m.was.straight || !m.is.straight {
		change.perhaps("Handlers or matchers stand before the directive, so that not every such call comes to it.")
	}
	c.asked[id] = change
	return change, nil
}

// others compares the directives that may judge some calls of a site in place of its own. What they open or close depends on
// matchers.
func (c *comparer) others(m *meeting) error {
	for i := range min(len(m.was.others), len(m.is.others)) {
		old, now := &m.was.others[i], &m.is.others[i]
		c.directives(old.Said, now.Said, m.name)
		c.spellings(old.Chain.Site(), now.Chain.Site(), m.name)
		found := c.pair(old.Chain, now.Chain)
		if found.err != nil {
			c.report.Sites.NotCompared = append(c.report.Sites.NotCompared, NotCompared{m.name, found.err.Error()})
			continue
		}
		for j := range found.changes {
			change := changeOf(&found.changes[j])
			change.perhaps("Matchers lead some of the calls to the directive at " + now.At + ".")
			c.report.add(change, m.name)
		}
	}
	c.before.judged(m.old, m.was)
	c.after.judged(m.now, m.is)
	return nil
}

// perhaps makes a change one that may be.
func (c *Change) perhaps(why string) {
	switch c.Effect {
	case diff.Opened:
		c.Effect = diff.MayOpen
	case diff.Closed:
		c.Effect = diff.MayClose
	case diff.MayOpen, diff.MayClose:
		return
	}
	c.Why = strings.TrimSpace(c.Why + " " + why)
}

// pair compares two chains. Sites of one directive have one chain, and equal directives do.
func (c *comparer) pair(before, after *policy.Chain) *compared {
	found := c.compared[pair{before, after}]
	if found == nil {
		found = new(compared)
		found.holders = diff.Holders(before, after, rightsOf(before, after))
		found.Comparison = diff.New(before, after)
		found.changes, found.err = found.Changes(found.holders, c.Index)
		c.compared[pair{before, after}] = found
	}
	return found
}

// rightsOf returns what users may have beside a login: nothing, and each role and capability that a rule names.
func rightsOf(chains ...*policy.Chain) []diff.Rights {
	all := []dryrun.As{{Kind: dryrun.User}}
	add := func(r *policy.Rule) {
		kind := map[policy.Who]dryrun.AsKind{policy.ByRole: dryrun.Role, policy.ByCapability: dryrun.Capability}[r.Who()]
		for _, name := range r.Names() {
			if as := (dryrun.As{Kind: kind, Name: name}); kind != "" && !slices.Contains(all, as) {
				all = append(all, as)
			}
		}
	}
	eachLine(chains, func(l policy.RouteLine) {
		if l.Rule != nil {
			add(l.Rule)
		}
	})
	for _, chain := range chains {
		for _, m := range chain.Policies() {
			if p, ok := m.Policy.(review.Admitter); ok {
				p.EachRule(add)
			}
		}
	}
	var rights []diff.Rights
	for _, as := range all {
		name := as.String()
		if as.Kind == dryrun.User {
			name = ""
		}
		rights = append(rights, diff.Rights{Name: name, Caller: as.Caller()})
	}
	return rights
}

// eachLine calls do with every line of chains that names routes.
func eachLine(chains []*policy.Chain, do func(policy.RouteLine)) {
	for _, chain := range chains {
		for _, m := range chain.Policies() {
			if p, ok := m.Policy.(policy.Router); ok {
				p.EachRoute(do)
			}
		}
	}
}

// changeOf returns a change as a report has it.
func changeOf(d *diff.Change) Change {
	c := Change{
		Effect: d.Effect, Methods: append([]string{}, d.Methods...), Who: d.Who, Routes: d.Routes, Why: d.Why, danger: d.Danger(),
		Old: Line{d.Old.Text, d.Old.At, d.Old.Stays}, New: Line{d.New.Text, d.New.At, d.New.Stays},
	}
	for i, m := range c.Methods {
		if m == policy.MethodsApart[len(policy.MethodsApart)-1] {
			c.Methods[i] = "other"
		}
	}
	for _, s := range d.Sets {
		c.Sets = append(c.Sets, Set(s))
	}
	return c
}

// confirm asks both sides about the example of a change. What it does not show is no certain change.
func (c *comparer) confirm(ctx context.Context, old, now *dryrun.Home, found *compared, number int, change *Change) error {
	d := &found.changes[number]
	h := &found.holders[d.Example.Who]
	switch {
	case h.Signature != "":
		change.Why = strings.TrimSpace(change.Why + " A dry run cannot sign, so that no request shows it.")
		return nil
	case h.Caller.Kind == caller.KeyHolder && !old.Policies.InShop(routes.Key(d.Example.Route)):
		return nil // what becomes of it depends on where the key stands
	}
	as := asOf(h)
	change.Example = &Example{Request: d.Example.Method + " " + old.Address + "/" + old.Prefix + d.Example.Route, As: h.Name}
	before, err := ask(ctx, c.before.Config, old, d, as)
	if err != nil {
		return err
	}
	after, err := ask(ctx, c.after.Config, now, d, as)
	if err != nil {
		return err
	}
	change.Example.Old, change.Example.New = told(before), told(after)
	shown := map[diff.Effect][2]dryrun.Answer{diff.Opened: {dryrun.Refused, dryrun.Pass}, diff.Closed: {dryrun.Pass, dryrun.Refused}}[d.Effect]
	if shown[0] != "" && (passes(before) != (shown[0] == dryrun.Pass) || passes(after) != (shown[1] == dryrun.Pass) || unknown(before) || unknown(after)) {
		change.perhaps("So say the lines; but something else decides on the request that is shown.")
	}
	return nil
}

// caller is as whom a dry run asks.
type as struct {
	dryrun.As
	credential caller.Credential
}

// asOf returns as whom to ask for a holder.
func asOf(h *diff.Holder) as {
	a := as{credential: h.Credential}
	who := &h.Caller
	switch {
	case who.Kind == caller.KeyHolder:
		a.Kind = dryrun.Key
	case who.Kind != caller.User:
		a.Kind = dryrun.Anonymous
	case len(who.Roles) > 0 && who.Roles[0] != "subscriber":
		a.Kind, a.Name = dryrun.Role, strings.Join(who.Roles, ",")
	case len(who.Capabilities) == 1:
		a.Kind = dryrun.Capability
		for name := range who.Capabilities {
			a.Name = name
		}
	default:
		a.Kind = dryrun.User
	}
	return a
}

// ask runs the example of a change.
func ask(ctx context.Context, c *dryrun.Config, home *dryrun.Home, d *diff.Change, as as) (*dryrun.Result, error) {
	var body []byte
	var header []string
	if d.Example.Method != http.MethodGet && d.Example.Method != http.MethodHead {
		body, header = []byte("{}"), []string{"Content-Type: application/json"}
	}
	r, err := dryrun.Build(d.Example.Method, home.Address+"/"+home.Prefix+d.Example.Route, header, body)
	if err != nil {
		return nil, err
	}
	r.As, r.Credential = as.As, as.credential
	result, err := c.Run(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", d.Example.Method, d.Example.Route, err)
	}
	return result, nil
}

func passes(r *dryrun.Result) bool {
	return r.Answer == dryrun.Pass || r.Answer == dryrun.WouldRefuse || r.Answer == dryrun.NotReached && r.Missed.Leads()
}

func unknown(r *dryrun.Result) bool { return r.Answer == dryrun.Unknown }

// told says what became of a request: "passes", "refused: 401 rest_not_logged_in by login_only".
func told(r *dryrun.Result) string {
	switch {
	case r.Answer == dryrun.Pass && r.Decided != nil:
		return "passes by " + r.Decided.Rule
	case r.Answer == dryrun.Pass:
		return "passes"
	case r.Answer == dryrun.WouldRefuse:
		return "passes, since refusals are only observed"
	case r.Answer == dryrun.NotReached && r.Missed.Leads():
		return "passes beside the gateway: " + r.Missed.Answered + " answers"
	case r.Answer == dryrun.NotReached:
		return "the gateway is not on its way: " + r.Missed.Answered + " answers"
	case r.Answer == dryrun.Refused && r.Decision != nil:
		text := fmt.Sprintf("refused: %d %s", r.Decision.Status, r.Decision.Code)
		if r.Decision.Rule != "" {
			text += " by " + r.Decision.Rule
		}
		return text
	}
	return "cannot be known: " + strings.Join(r.Missing, ", ")
}
