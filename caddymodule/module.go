package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

func init() { caddy.RegisterModule(Gateway{}) }

// Gateway guards the REST interface of the content platform behind it. It works out which
// call a request really makes, decides whether that caller may make it, and forwards it
// untouched or refuses it. Pages, files and streams pass.
//
// It must stand before every handler that answers requests: the directive is ordered
// before basic_auth.
type Gateway struct {
	// Platform is "cms" or "wordpress": the set of names that the site uses. Required.
	Platform string `json:"platform"`
	// Base is the sub-folder of the install, "/blog". If it is empty, a question takes as
	// its base the path before the REST prefix in the client's request.
	Base string `json:"base,omitempty"`
	// Prefix is the first segment of the pretty form, if the site has changed it.
	Prefix string `json:"prefix,omitempty"`
	// Release is the release of the shop, "10.7", or "auto" (the default): policies ask
	// the platform for what they must know.
	Release string `json:"release,omitempty"`
	// Mode is "enforce" (the default) or "observe": decide, count and log, but refuse and
	// change nothing.
	Mode policies.Mode `json:"mode,omitempty"`
	// Credentials names what counts as a credential on this site beside the platform's
	// own.
	Credentials *caller.Own `json:"credentials,omitempty"`
	// Identity bounds the questions about who is calling.
	Identity *Identity `json:"identity,omitempty"`
	// BodyLimit bounds urlencoded, JSON and inspected bodies, in bytes; default 8 MiB.
	BodyLimit int64 `json:"body_limit,omitempty"`
	// UploadLimit bounds multipart bodies, in bytes; default 512 MiB.
	UploadLimit int64 `json:"upload_limit,omitempty"`
	// SpoolLimit bounds, in bytes, what is spooled to disk at one time by all sites with
	// the same limit; default 1 GiB.
	SpoolLimit int64 `json:"spool_limit,omitempty"`
	// BatchLimit bounds the number of parts of a batch; default the platform's 25 and
	// 100.
	BatchLimit int `json:"batch_limit,omitempty"`
	// PoliciesRaw configures the policies by name. Their order is fixed.
	PoliciesRaw caddy.ModuleMap `json:"policies,omitempty" caddy:"namespace=http.handlers.restwarden.policies"`
	// Instance tells directives with the same content apart; 0 is the first. Each of them
	// counts limits and keeps proofs of its own.
	Instance int `json:"instance,omitempty"`
	// At is where the directive stands, "Caddyfile:2"; for messages.
	At string `json:"at,omitempty"`
	// Imported says where the lines of the directive were imported, for messages and
	// records: under "" the directive itself, "Caddyfile:12"; under "snippets.caddy:3" the
	// line that stands there, if it was imported elsewhere than the directive.
	Imported map[string]string `json:"imported,omitempty"`

	directive string // see fingerprint
	site      *policies.Site
	reader    *call.Reader
	chain     *policies.Chain
	trace     policies.Trace
	changers  []changer
	rewriters []rewriter
	watchers  []policies.Watcher
	timeout   time.Duration
	logger    *zap.Logger
	metrics   *metrics
	leases    leases
	discovery *discovery
}

// Identity bounds the questions about who is calling.
type Identity struct {
	// TTL is how long an answer is believed; default 10s.
	TTL policies.Duration `json:"ttl,omitempty"`
	// Timeout is how long the platform may take to answer; default 5s.
	Timeout policies.Duration `json:"timeout,omitempty"`
	// MaxInFlight is how many questions may be under way at once; default 32.
	MaxInFlight int `json:"max_in_flight,omitempty"`
	// Rate is how many new questions one client address may cause: "120/1m", the default.
	Rate string `json:"rate,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Gateway) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.restwarden", New: func() caddy.Module { return new(Gateway) }}
}

// Provision prepares the gateway. It does no I/O.
func (g *Gateway) Provision(ctx caddy.Context) error {
	if err := g.provision(ctx); err != nil {
		return g.placed(fmt.Errorf("restwarden: %w", err))
	}
	return nil
}

func (g *Gateway) provision(ctx caddy.Context) error {
	if err := g.Validate(); err != nil {
		return err
	}
	g.logger = ctx.Logger()
	var err error
	if g.directive, err = g.fingerprint(); err != nil {
		return err
	}
	configured, err := g.loadPolicies(ctx)
	if err != nil {
		return err
	}
	g.metrics = newMetrics(ctx.GetMetricsRegistry())
	if g.site, err = g.newSite(ctx); err != nil {
		return err
	}
	if err := g.newReader(); err != nil {
		return err
	}
	if g.chain, err = policies.NewChain(g.site, g.Mode, configured); err != nil {
		return err
	}
	g.listen()
	g.sortPolicies()
	g.discovery = newDiscovery()
	return nil
}

// Validate checks everything that does not depend on the rest of the configuration.
func (g *Gateway) Validate() error {
	for _, check := range []error{
		validatePlatform(g.Platform), validateBase(g.Base), validatePrefix(g.Prefix), validateRelease(g.Release), g.Mode.Validate(),
		validateCredentials(g.Credentials), validateIdentity(g.Identity),
		validateNotNegative("body_limit", g.BodyLimit), validateNotNegative("upload_limit", g.UploadLimit),
		validateNotNegative("spool_limit", g.SpoolLimit), validateNotNegative("batch_limit", int64(g.BatchLimit)),
	} {
		if check != nil {
			return check
		}
	}
	return nil
}

// Cleanup releases what Provision acquired.
func (g *Gateway) Cleanup() error {
	if g.discovery != nil {
		g.discovery.stop()
	}
	var err error
	if g.chain != nil {
		err = g.chain.Close()
	}
	return errors.Join(err, g.leases.release())
}

// newSite builds what all policies share.
func (g *Gateway) newSite(ctx caddy.Context) (*policies.Site, error) {
	platform, _ := call.PlatformByName(g.Platform)
	var own caller.Own
	if g.Credentials != nil {
		own = *g.Credentials
	}
	release, err := policies.ParseRelease(g.Release)
	if err != nil {
		return nil, err
	}
	opts, err := g.Identity.options()
	if err != nil {
		return nil, err
	}
	g.timeout = opts.Timeout
	site := &policies.Site{
		Site: caller.NewSite(platform, own),
		Base: g.Base, Release: release, Directive: g.directive, Server: listeners(ctx),
	}
	if g.Prefix != "" {
		site.Prefix = g.Prefix
	}
	if site.Store, opts.Store, err = g.openStore(ctx); err != nil {
		return nil, err
	}
	opts.Site = strings.Join([]string{g.Platform, g.Base, g.Prefix}, " ")
	opts.Server = site.Server + " " + g.directive // two directives of one server may lead to two sites
	site.Identities, err = lease(&g.leases, identitiesKey{opts},
		func() (*caller.Identities, error) { return caller.NewIdentities(opts) })
	return site, err
}

func (g *Gateway) newReader() error {
	limit := orDefault(g.SpoolLimit, call.DefaultSpoolLimit)
	spool, err := lease(&g.leases, spoolKey{limit},
		func() (*call.Spool, error) { return call.NewSpool("", limit), nil })
	if err != nil {
		return err
	}
	body := orDefault(g.BodyLimit, call.DefaultBodyLimit)
	memory, err := lease(&g.leases, memoryKey{call.MemoryFor(body)},
		func() (*call.Memory, error) { return call.NewMemory(call.MemoryFor(body)), nil })
	if err != nil {
		return err
	}
	g.reader = caller.NewReader(call.Site{
		Platform: g.site.Platform, Prefix: g.Prefix, Base: g.Base,
		Limits: call.Limits{
			Body: body, Upload: orDefault(g.UploadLimit, call.DefaultUploadLimit), Batch: g.BatchLimit, Spool: spool, Memory: memory,
		},
	})
	return nil
}

func orDefault[T comparable](v, otherwise T) T {
	if v == *new(T) {
		return otherwise
	}
	return v
}

// listen turns the chain's trace into metrics, vars and log.
func (g *Gateway) listen() {
	decisions := g.metrics.knownTo(g.site, g.chain)
	g.trace = policies.Trace{
		Questions: ask.Trace{Asked: g.metrics.asked, Known: g.metrics.known},
		Refused:   func(_ *policies.Request, d policies.Decision) { decisions.count(d) },
		Decided: func(r *policies.Request, d policies.Decision) {
			if d.Outcome == policies.Pass {
				decisions.count(d)
			}
			g.report(r, d)
		},
	}
}

// sortPolicies collects the policies that do more than judge. A policy that only observes
// changes nothing.
func (g *Gateway) sortPolicies() {
	for _, p := range g.chain.Policies() {
		if w, ok := p.Policy.(policies.Watcher); ok {
			g.watchers = append(g.watchers, w)
		}
		if p.Observes {
			continue
		}
		if c, ok := p.Policy.(policies.RequestChanger); ok {
			g.changers = append(g.changers, changer{p.Name, c})
		}
		if w, ok := p.Policy.(policies.AnswerChanger); ok {
			g.rewriters = append(g.rewriters, rewriter{p.Name, w})
		}
	}
	g.changers, g.rewriters = slices.Clip(g.changers), slices.Clip(g.rewriters)
}

func (g *Gateway) observes() bool { return g.Mode == policies.Observe }

// Interface guards
var (
	_ caddy.Module                = (*Gateway)(nil)
	_ caddy.Provisioner           = (*Gateway)(nil)
	_ caddy.Validator             = (*Gateway)(nil)
	_ caddy.CleanerUpper          = (*Gateway)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gateway)(nil)
	_ caddyfile.Unmarshaler       = (*Gateway)(nil)
	_ http.ResponseWriter         = (*answerWriter)(nil)
)
