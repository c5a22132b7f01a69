package gateway

import (
	"crypto/sha256"
	"errors"
	"sync"

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
	httpcaddyfile.RegisterGlobalOption("restwarden", parseGlobalOption)
}

// App holds what all sites share. It is the Caddy app "restwarden", written in the global
// options of the Caddyfile.
type App struct {
	// Store says where facts, counters and used signatures are kept; nil means memory.
	Store *redisstore.Options `json:"store,omitempty"`

	redis redisstore.Resolved

	http         *caddyhttp.App // whose routes lead to the gateways; nil outside a configuration
	metrics      *metrics.Metrics
	logger       *zap.Logger
	local        store.Store // that policies use
	shared       store.Store // the Redis itself, or nil
	gateways     []*Gateway
	engines      map[[sha256.Size]byte]*engine // by what they were compiled from
	assigned     sync.Once
	running      *running
	people       *confirming.People // who confirm calls
	dry          *Observer          // nil unless the configuration is loaded for dry runs
	surveyed     sync.Once
	refused      error          // why the configuration must not load
	findings     []finding      // what else is odd in it
	routing      routing.Report // what the survey found
	placeholders []string       // that handlers of the sites define
	leases       pool.Leases
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "restwarden", New: func() caddy.Module { return new(App) }}
}

// Provision checks the options and resolves placeholders. It connects to nothing.
func (a *App) Provision(caddy.Context) error {
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
		if inner.Name != "store" {
			return inner.Unknown("store")
		}
		var err error
		a.Store, err = redisstore.Parse(inner)
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
