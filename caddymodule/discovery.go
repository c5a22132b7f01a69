package caddymodule

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask"
)

// How long what the REST root said is believed, since a shop may be set back to
// an older release, and how long a failed reading is left alone.
const (
	discoverEvery = 10 * time.Minute
	discoverAgain = time.Minute
)

// discovery reads the REST root in the background, while traffic flows and
// never on a client's time.
type discovery struct {
	busy   atomic.Bool // reading the root, waiting to read again, or stopped
	asking atomic.Bool // the same for the scripts
	last   []string    // the problems of the last reading; of one goroutine at a time

	mu      sync.Mutex // guards the start of the goroutine against stop
	stopped bool
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

func newDiscovery() *discovery {
	d := new(discovery)
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// request is told every request; the first one lends its way to the platform.
func (d *discovery) request(g *Gateway, r *http.Request, next caddyhttp.Handler) {
	if !d.busy.Load() {
		d.start(&d.busy, g, r, next, d.run)
	}
}

// script is told every form for one of the scripts that may be forwarded
// unread: whether they are there is asked once there is something to forward.
func (d *discovery) script(g *Gateway, r *http.Request, next caddyhttp.Handler) {
	d.start(&d.asking, g, r, next, func(ctx context.Context, g *Gateway, b ask.Backend, by policies.Reach) time.Duration {
		g.reader.TrustScripts(by.Host, g.site.HasScripts(ctx, b, by))
		return discoverEvery
	})
}

// start runs read in the background, unless it runs or has lately; read returns
// how long its answer is good for.
func (d *discovery) start(busy *atomic.Bool, g *Gateway, r *http.Request, next caddyhttp.Handler,
	read func(context.Context, *Gateway, ask.Backend, policies.Reach) time.Duration,
) {
	base, below := baseOf(g, r)
	if !below || !busy.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	own := newBackend(g, r, next)
	detached := ask.Traced(own.Detach(), &g.trace.Questions)
	ctx, by := context.WithoutCancel(r.Context()), policies.Reach{Host: r.Host, Secure: isSecure(r), Base: base}
	d.running.Go(func() {
		asking, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(d.ctx, cancel)()
		pause := read(asking, g, detached, by)
		select {
		case <-d.ctx.Done():
		case <-time.After(pause):
			busy.Store(false)
		}
	})
}

// baseOf is the base that questions need behind the rewrites which r has seen:
// none where they have taken it away. below is false for requests outside it.
func baseOf(g *Gateway, r *http.Request) (base string, below bool) {
	switch original := originalURL(r); {
	case g.Base == "" || isBelow(r.URL.Path, g.Base):
		return g.Base, true
	case original != nil && isBelow(original.Path, g.Base):
		return "", true
	}
	return "", false
}

func isBelow(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/')
}

func (d *discovery) run(ctx context.Context, g *Gateway, b ask.Backend, by policies.Reach) time.Duration {
	problems, err := g.site.Discover(ctx, b, by)
	if err != nil {
		g.logger.Debug("the REST root could not be read", zap.Error(err))
		return discoverAgain
	}
	d.report(g, problems)
	return discoverEvery
}

// report logs what is new, and counts what there is.
func (d *discovery) report(g *Gateway, problems []string) {
	for _, problem := range problems {
		if !slices.Contains(d.last, problem) {
			g.logger.Warn("the configuration does not fit the site", zap.String("problem", problem))
		}
	}
	g.metrics.misconfigured.Add(float64(len(problems) - len(d.last)))
	d.last = problems
}

// stop ends the reading and waits for it.
func (d *discovery) stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}
