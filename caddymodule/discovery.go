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

// discoverEvery is how long the REST root is believed, since a shop may return to an
// older release. discoverAgain is the pause after a failed reading.
const (
	discoverEvery = 10 * time.Minute
	discoverAgain = time.Minute
)

// discovery reads the REST root in the background, so that no client waits for it.
type discovery struct {
	busy   atomic.Bool // reading the root, waiting to read again, or stopped
	asking atomic.Bool // the same for the scripts
	last   []string    // the problems of the last reading; used by one goroutine at a time

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

// request is called for every request. When a reading is due it starts one, which uses
// the rest of this request's route.
func (d *discovery) request(s *site, r *http.Request, next caddyhttp.Handler) {
	if !d.busy.Load() {
		d.start(&d.busy, s, r, next, d.run)
	}
}

// script is called for every form for a script that may be forwarded unread. The gateway
// asks whether the scripts exist only when there is such a form.
func (d *discovery) script(s *site, r *http.Request, next caddyhttp.Handler) {
	d.start(&d.asking, s, r, next, func(ctx context.Context, s *site, b ask.Backend, by policies.Reach) time.Duration {
		s.reader.TrustScripts(by.Host, s.HasScripts(ctx, b, by))
		return discoverEvery
	})
}

// start runs read in the background, unless it is running or its last result still holds.
// read returns how long its result holds.
func (d *discovery) start(busy *atomic.Bool, s *site, r *http.Request, next caddyhttp.Handler,
	read func(context.Context, *site, ask.Backend, policies.Reach) time.Duration,
) {
	base, below := baseOf(s, r)
	if !below || !busy.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	own := newBackend(s, r, next)
	detached := ask.Traced(own.Detach(), &s.trace.Questions)
	ctx, by := context.WithoutCancel(r.Context()), policies.Reach{Host: r.Host, Secure: isSecure(r), Base: base}
	d.running.Go(func() {
		asking, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(d.ctx, cancel)()
		pause := read(asking, s, detached, by)
		select {
		case <-d.ctx.Done():
		case <-time.After(pause):
			busy.Store(false)
		}
	})
}

// baseOf returns the base that questions need after the rewrites which r has passed: ""
// if they have removed it. below is false for requests outside the base.
func baseOf(s *site, r *http.Request) (base string, below bool) {
	switch original := originalURL(r); {
	case s.Base == "" || isBelow(r.URL.Path, s.Base):
		return s.Base, true
	case original != nil && isBelow(original.Path, s.Base):
		return "", true
	}
	return "", false
}

func isBelow(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/')
}

func (d *discovery) run(ctx context.Context, s *site, b ask.Backend, by policies.Reach) time.Duration {
	problems, err := s.Discover(ctx, b, by)
	if err != nil {
		s.logger.Debug("the REST root could not be read", zap.Error(err))
		return discoverAgain
	}
	d.report(s, problems)
	return discoverEvery
}

// report logs the new problems and sets the gauge to the number of all.
func (d *discovery) report(s *site, problems []string) {
	for _, problem := range problems {
		if !slices.Contains(d.last, problem) {
			s.logger.Warn("the configuration does not fit the site", zap.String("problem", problem))
		}
	}
	s.metrics.misconfigured.WithLabelValues(s.Name, "root").Add(float64(len(problems) - len(d.last)))
	d.last = problems
	s.state.found(problems)
}

// stop ends the reading and waits for it.
func (d *discovery) stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}
