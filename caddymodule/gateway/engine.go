package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// engine is what the configuration of a directive compiles to. Directives of one load with
// equal configurations share it. It knows no site: the sites of a gateway bring their own
// stores, callers and names.
type engine struct {
	said      string       // what the directive says, see Gateway.Content
	every     *policy.Site // what the configuration says of every site
	questions caller.Options
	reader    *call.Reader
	spool     *budget.Spool
	memory    *budget.Memory
	chain     *policy.Chain
	odd       []review.Odd  // in its rules; nil until somebody asks
	codes     metrics.Codes // that its decisions may have
	changers  []changer
	rewriters []rewriter
	watchers  []policy.Watcher
	learners  []policy.Learner
	auditors  []policy.AgentAuditor
	confirmer policy.Confirmer // nil unless calls may have to wait for a person
	leases    pool.Leases
}

// engineOf returns the engine of g. App.Cleanup closes it.
func (a *App) engineOf(ctx caddy.Context, g *Gateway) (*engine, error) {
	key := cmp.Or(g.SameAs, g.Content())
	if e, ok := a.engines[key]; ok {
		g.PoliciesRaw = nil // as Caddy leaves it when it loads them
		return e, nil
	}
	e, err := g.compile(ctx)
	if err != nil {
		return nil, err
	}
	e.said = key
	if a.engines == nil {
		a.engines = map[string]*engine{}
	}
	a.engines[key] = e
	return e, nil
}

// compile makes the engine of g. The caller must close it.
func (g *Gateway) compile(ctx caddy.Context) (*engine, error) {
	configured, err := g.loadPolicies(ctx)
	if err != nil {
		return nil, err
	}
	e := new(engine)
	if err = e.newSite(g); err == nil {
		err = e.newReader(ctx, g)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	if e.chain, err = policies.NewChain(e.every, g.Mode, configured); err != nil {
		return nil, errors.Join(err, e.close())
	}
	e.codes = g.app.metrics.Codes(e.every, e.chain)
	e.sortPolicies()
	return e, nil
}

// close releases what compile acquired.
func (e *engine) close() error {
	var err error
	if e.chain != nil {
		err = e.chain.Close()
	}
	return errors.Join(err, e.leases.Release())
}

type questionsKey struct {
	limit int
	late  bool
}

// newSite builds what the configuration says of every site.
func (e *engine) newSite(g *Gateway) error {
	platform, _ := platforms.ByName(g.Platform)
	var own caller.Own
	if g.Credentials != nil {
		own = *g.Credentials
	}
	release, err := policy.ParseRelease(g.Release)
	if err != nil {
		return err
	}
	if e.questions, err = g.Identity.options(); err != nil {
		return err
	}
	shares := func(late bool) (*budget.Shares, error) {
		return pool.Lease(&e.leases, questionsKey{e.questions.MaxInFlight, late},
			func() (*budget.Shares, error) { return budget.NewShares(int64(e.questions.MaxInFlight)), nil })
	}
	var errs [2]error
	e.questions.InFlight, errs[0] = shares(false)
	e.questions.Late, errs[1] = shares(true)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	e.every = &policy.Site{Site: caller.NewSite(platform, own), Base: g.Base, Release: release}
	if len(g.Prefix) > 0 {
		e.every.Prefix = g.Prefix.First()
	}
	return nil
}

func (g *Gateway) uploadLimit() int64 { return cmp.Or(g.UploadLimit, call.DefaultUploadLimit) }

func (g *Gateway) spoolLimit() int64 { return cmp.Or(g.SpoolLimit, budget.SpoolFor(g.uploadLimit())) }

func (e *engine) newReader(ctx caddy.Context, g *Gateway) error {
	dir, err := pool.SpoolDir(g.SpoolDir)
	if err != nil {
		return fmt.Errorf("spool_dir: %w", err)
	}
	key := pool.Spool{Dir: dir, Limit: g.spoolLimit()}
	e.spool, err = key.Lease(ctx, &e.leases, func(text string) {
		g.app.odd(finding{Finding: routing.Finding{Code: budget.CodeSpool, At: g.At, Imported: g.Imported.At(""), Text: text}, directive: g.spot()})
	})
	if err != nil {
		return err
	}
	body := cmp.Or(g.BodyLimit, call.DefaultBodyLimit)
	if e.memory, err = (pool.Memory{Limit: budget.MemoryFor(body)}).Lease(&e.leases); err != nil {
		return err
	}
	platform, _ := platforms.ByName(g.Platform)
	e.reader = policies.NewReader(call.Config{
		Platform: platform, Headers: e.every.Own.Headers, Prefix: g.Prefix.First(), Prefixes: g.Prefix.More(), Aliases: g.Alias, Base: g.Base,
		Limits: call.Limits{
			Body: body, Upload: g.uploadLimit(), Batch: g.BatchLimit, Spool: e.spool, Memory: e.memory,
		},
	})
	return nil
}

// sortPolicies collects the policies that do more than judge. A policy that observes
// changes nothing; whether it does is known for each request only.
func (e *engine) sortPolicies() {
	for _, p := range e.chain.WithLockdown() {
		if w, ok := p.Policy.(policy.Watcher); ok {
			e.watchers = append(e.watchers, w)
		}
		if l, ok := p.Policy.(policy.Learner); ok {
			e.learners = append(e.learners, l)
		}
		if a, ok := p.Policy.(policy.AgentAuditor); ok {
			e.auditors = append(e.auditors, a)
		}
		if c, ok := p.Policy.(policy.Confirmer); ok && c.Confirms() {
			e.confirmer = c
		}
		if c, ok := p.Policy.(policy.RequestChanger); ok {
			e.changers = append(e.changers, changer{p.Name, p.Observes, c})
		}
		if w, ok := p.Policy.(policy.AnswerChanger); ok {
			e.rewriters = append(e.rewriters, rewriter{p.Name, p.Observes, w})
		}
	}
	e.changers, e.rewriters = slices.Clip(e.changers), slices.Clip(e.rewriters)
}
