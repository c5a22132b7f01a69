package gateway

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/caddymodule/switches"
)

// running knows which apps run, and has what outlives each of them: the switches of all sites, and
// those who follow refusals.
type running struct {
	board     *switches.Board
	followers refusals.Followers

	mu   sync.Mutex
	apps []*App // two during a reload
}

type runningKey struct{}

// current is the app that runs, or nil.
var current atomic.Pointer[App]

func newRunning() (*running, error) { return &running{board: switches.New(switchLogger)}, nil }

// Close is called when the last app is released.
func (r *running) Close() error { return r.board.Close() }

// begin makes what is switched on count for the sites of an app before it answers its first request, which may come before the app
// starts.
func (r *running) begin(a *App) {
	r.mu.Lock()
	first := len(r.apps) == 0
	r.mu.Unlock()
	if first {
		r.connect(a)
	}
	r.board.Read()
}

// start is called when an app starts. The last one that has started counts.
func (r *running) start(a *App) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apps = append(r.apps, a)
	r.use(a)
}

// stop is called when an app stops. The followers end with the last app.
func (r *running) stop(a *App) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := slices.Index(r.apps, a); at >= 0 {
		r.apps = slices.Delete(r.apps, at, at+1)
	}
	if len(r.apps) == 0 {
		current.Store(nil)
		r.followers.End()
		r.board.Connect(nil, "")
		return
	}
	r.use(r.apps[len(r.apps)-1])
}

func (r *running) use(a *App) {
	current.Store(a)
	r.connect(a)
}

func (r *running) connect(a *App) {
	r.board.Connect(a.shared, filepath.Join(caddy.AppDataDir(), "restwarden", "switches.json"))
}

// switchLogs names the logger of site.switchLog.
const switchLogs = "switch"

// storeLogger and switchLogger return the loggers of the Redis and of the switches, which outlive
// a configuration.
func storeLogger() *zap.Logger  { return currentLogger().Named("store") }
func switchLogger() *zap.Logger { return currentLogger().Named(switchLogs) }

// currentLogger returns the gateways' logger of the running configuration. Unlike Caddy's
// default log, it writes to every log that includes the gateways.
func currentLogger() *zap.Logger {
	if app := current.Load(); app != nil && app.logger != nil {
		return app.logger
	}
	return caddy.Log().Named("http.handlers.restwarden")
}
