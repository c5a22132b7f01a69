package gateway

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

func init() {
	caddy.RegisterModule(new(App))
	redisstore.LogClients(storeLogger)
	httpcaddyfile.RegisterGlobalOption("restwarden", parseGlobalOption)
}

// App holds what all sites share. It is the Caddy app "restwarden", written in the global
// options of the Caddyfile.
type App struct {
	// Store says where facts, counters and used signatures are kept; nil means memory.
	Store *redisstore.Options `json:"store,omitempty"`
	// Operators says who tells the names of operators; nil means nobody.
	Operators *Operators `json:"operators,omitempty"`

	redis redisstore.Resolved

	http         *caddyhttp.App // whose routes lead to the gateways; nil outside a configuration
	metrics      *metrics.Metrics
	logger       *zap.Logger
	agents       *zap.Logger // the audit log
	journaled    *zap.Logger // the journal
	local        store.Store // that policies use
	shared       store.Store // the Redis itself, or nil
	gateways     []*Gateway
	engines      map[string]*engine  // by Gateway.Content
	said         map[string]*Gateway // what directives refer to, by Gateway.Content
	assigned     sync.Once
	ready        atomic.Bool // the sites are assigned
	running      *running
	people       *confirming.People // who confirm calls
	dry          *Observer          // nil unless the configuration is loaded for dry runs
	surveyed     sync.Once
	refused      error          // why the configuration must not load
	findings     []finding      // what else is odd in it
	routing      routing.Report // what the survey found
	texts        map[*caddyhttp.Server]*routing.Texts
	placeholders []string // that handlers of the sites define
	leases       pool.Leases
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "restwarden", New: func() caddy.Module { return new(App) }}
}

// Provision checks the options and resolves placeholders. It connects to nothing.
func (a *App) Provision(caddy.Context) error {
	if a.Operators != nil {
		if err := a.Operators.provision(); err != nil {
			return fmt.Errorf("operators: %w", err)
		}
	}
	if !a.Store.UsesRedis() {
		return nil
	}
	var err error
	a.redis, err = a.Store.Resolve()
	return err
}

// Validate checks the options that do not depend on the environment.
func (a *App) Validate() error {
	if a.Store == nil {
		return nil
	}
	return a.Store.Validate()
}

// Start implements caddy.App.
func (a *App) Start() error {
	a.assign()
	if a.running != nil { // there are sites
		a.running.start(a)
		var names []string
		for _, s := range a.sites() {
			names = append(names, s.Name)
		}
		a.running.board.WarnOrphans(names)
	}
	return nil
}

// Stop implements caddy.App.
func (a *App) Stop() error {
	if a.running != nil {
		a.running.stop(a)
	}
	return nil
}

// Cleanup releases what the gateways share.
func (a *App) Cleanup() error {
	var errs []error
	for _, e := range a.engines {
		errs = append(errs, e.close())
	}
	a.engines = nil
	return errors.Join(append(errs, a.leases.Release())...)
}

// appOf returns the app of the configuration that ctx belongs to, with the HTTP app whose
// routes lead to the gateways. Outside a configuration, it returns an app of its own.
func appOf(ctx caddy.Context) (*App, error) {
	app := new(App)
	var http *caddyhttp.App
	if all := ctx.Modules(); len(all) > 0 {
		http, _ = all[0].(*caddyhttp.App)
	}
	if http != nil {
		found, err := ctx.App("restwarden")
		if err != nil {
			return nil, &policy.PlacedError{Err: err} // the app names its own place
		}
		app = found.(*App)
	}
	if app.metrics != nil {
		return app, nil
	}
	app.http, app.logger = http, ctx.Logger() // of a gateway, for all of them
	app.agents, app.journaled = app.logger.Named(agentsLogger), app.logger.Named(journalLogger)
	app.metrics = metrics.New(ctx.GetMetricsRegistry(), http != nil && http.Metrics != nil && http.Metrics.PerHost, app.scraped)
	return app, app.openStore()
}

type storeKey struct{}

// openStore sets the stores of a: local is the Redis of the global options with the
// memory of this process as fallback, or that memory alone; shared is that Redis itself,
// or nil. openStore does not connect.
func (a *App) openStore() error {
	memory, err := pool.Lease(&a.leases, storeKey{}, store.NewMemory)
	if err != nil {
		return err
	}
	if a.running, err = pool.Lease(&a.leases, runningKey{}, newRunning); err != nil {
		return err
	}
	if a.people, err = pool.Lease(&a.leases, peopleKey{}, confirming.NewPeople); err != nil {
		return err
	}
	a.local = a.counted(memory)
	if !a.Store.UsesRedis() {
		return nil
	}
	redis, err := pool.Lease(&a.leases, a.redis.Key(), func() (*redisstore.Store, error) { return redisstore.New(a.redis, storeLogger), nil })
	if err != nil {
		return err
	}
	a.local, a.shared = redisstore.WithFallback(a.counted(redis), memory), redis
	return nil
}

// counted returns s with its operations counted.
func (a *App) counted(s store.Store) store.Store { return a.metrics.Store(s, storeResult) }

// storeResult says what became of an operation that failed.
func storeResult(err error) metrics.Result {
	switch {
	case errors.Is(err, redisstore.ErrPaused):
		return metrics.ResultSkipped
	case redisstore.IsTimeout(err):
		return metrics.ResultTimeout
	}
	return metrics.ResultError
}

// scraped yields what the metrics say of the sites by their names.
func (a *App) scraped(yield func(string, metrics.Site) bool) {
	now := time.Now()
	for _, s := range a.sites() {
		clock := func() time.Time { return now }
		of := metrics.Site{
			Locked: s.state.lockdown(now) != nil, Opens: s.state.switches.Opens.Len(clock), Closes: s.state.switches.Closes.Len(clock),
			RouteChanges: s.state.roots.changes(), Misread: s.state.misreads.total(),
		}
		if !yield(s.Name, of) {
			return
		}
	}
}

// parseGlobalOption reads what all sites share:
//
//	restwarden {
//		store …
//	}
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	d.Next() // consume option name
	global := option.Read(d)
	if err := errors.Join(global.Once(existing != nil), global.Complete()); err != nil {
		return nil, err
	}
	var a App
	if err := a.configure(global); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "restwarden", Value: caddyconfig.JSON(&a, nil)}, nil
}

func (a *App) configure(global policy.Option) error {
	if len(global.Args) > 0 {
		return global.Errorf("the global option restwarden takes a block only")
	}
	return global.Each(func(inner policy.Option) error {
		var err error
		switch inner.Name {
		case "store":
			a.Store, err = redisstore.Parse(inner)
		case "operators":
			a.Operators = new(Operators)
			err = a.Operators.configure(inner)
		default:
			err = inner.Unknown("store", "operators")
		}
		return err
	})
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.Validator    = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
