package caddymodule

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/hosts"
)

const (
	// discoverEvery is how long a REST root counts as read.
	discoverEvery = time.Hour
	// discoverAgain is the pause after a reading that failed or found a problem. The pause
	// doubles up to discoverEvery.
	discoverAgain = time.Minute
	// discoverNew is the pause between hosts that the configuration does not name, since a
	// client may send any.
	discoverNew = time.Second
	// discoverScripts is how long it counts whether the scripts are there.
	discoverScripts = 10 * time.Minute
)

// discovery reads the REST roots of one site in the background, so that no client but the
// first with a shop key waits for it. Each host has its own, since each may be another shop.
type discovery struct {
	hosts   hosts.Table[*hostRoot]
	scripts atomic.Int64 // when to ask for the scripts again
	siteReader

	// For the one reading that runs.
	problems map[string]int  // the number of hosts that have a problem, by its code
	logged   map[string]bool // texts of problems
}

func newDiscovery() *discovery {
	d := &discovery{problems: map[string]int{}, logged: map[string]bool{}}
	d.open()
	return d
}

// request is called for every call. When a reading is due it starts one, which uses the
// rest of this request's route.
// pretty tells that the call is as the root is asked for, see policies.Reach.
func (d *discovery) request(s *site, r *http.Request, next caddyhttp.Handler, pretty bool, at time.Time) {
	if d.busy.Load() {
		return
	}
	h, known := d.hosts.Get(r.Host)
	now := at.UnixNano()
	waits := known && now < h.due.Load() && (!pretty || !h.queryOnly.Load())
	if waits && !h.outside.Load() {
		return
	}
	base, below := baseOf(s, r)
	if waits && !below || !known && !d.mayLearn(s, r, now) {
		return
	}
	by := policies.Reach{Host: strings.Clone(r.Host), Secure: peerOf(r, varsOf(r)).secure, Base: base, Pretty: pretty}
	spelled := s.isSpelled(r)
	d.start(s, r, next, func(ctx context.Context, b ask.Backend) {
		if root := d.readRoot(ctx, s, b, by, below); root != nil && s.g.app.dry == nil {
			s.drift(ctx, root, by.Host, spelled)
		}
	})
}

// isNamed tells whether the configuration names the host of r itself.
func (s *site) isNamed(r *http.Request) bool {
	host := s.hostOf(r.Host, r)
	return host != other && !strings.ContainsAny(host, "*{")
}

// script is called for every form for a script that may be forwarded unread. The gateway
// asks whether the scripts exist only when there is such a form.
func (d *discovery) script(s *site, r *http.Request, next caddyhttp.Handler) {
	base, below := baseOf(s, r)
	if !below || time.Now().UnixNano() < d.scripts.Load() {
		return
	}
	by := policies.Reach{Host: strings.Clone(r.Host), Secure: peerOf(r, varsOf(r)).secure, Base: base}
	d.start(s, r, next, func(ctx context.Context, b ask.Backend) {
		s.reader.TrustScripts(by.Host, s.HasScripts(ctx, b, by))
		d.scripts.Store(time.Now().Add(discoverScripts).UnixNano())
	})
}

// start lets read wait for its turn, unless another reading of this site waits or runs.
func (d *discovery) start(s *site, r *http.Request, next caddyhttp.Handler, read func(context.Context, ask.Backend)) {
	if !d.busy.Load() {
		d.siteReader.start(r.Context(), s, newBackend(s, r, next).Detach(), read)
	}
}

// await waits until the root of r's host has been read once. It gives up when ctx ends, and
// where no reading can be started.
func (d *discovery) await(ctx context.Context, s *site, r *http.Request, next caddyhttp.Handler) {
	for range 2 { // the reading that runs may be another host's
		if _, known := d.hosts.Get(r.Host); known {
			return
		}
		d.request(s, r, next, false, time.Now())
		ended := d.end()
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// homeOf returns the home address of the site that answers for a host, as its root was last
// read, or "".
func (d *discovery) homeOf(host string) string {
	if h, known := d.hosts.Get(host); known {
		if home := h.home.Load(); home != nil {
			return *home
		}
	}
	return ""
}

// baseOf returns the base that questions need after the rewrites which r has passed: ""
// if they have removed it. below is false for requests outside the base.
func baseOf(s *site, r *http.Request) (base string, below bool) { return baseAt(s, r, r.URL.Path) }

// baseAt does so for a request that came to the gateway with this path.
func baseAt(s *site, r *http.Request, path string) (base string, below bool) {
	if s.Base == "" || isBelow(path, s.Base) {
		return s.Base, true
	}
	if original := originalURL(r); original != nil && isBelow(original.Path, s.Base) {
		return "", true
	}
	return s.Base, false
}

func isBelow(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/')
}

// readRoot reads the root of one host and says when it is due again. It returns nil for a
// root that could not be read.
func (d *discovery) readRoot(ctx context.Context, s *site, b ask.Backend, by policies.Reach, below bool) *policies.Root {
	root, err := s.Discover(ctx, b, by)
	read := new(hostRoot)
	if err == nil {
		read.learn(root)
	}
	h := d.hosts.GetOrPut(by.Host, func() *hostRoot { return read })
	if err != nil {
		d.failed(s, err)
	} else {
		h.learn(root)
		d.hosts.Put(by.Host, h) // it may have become larger
		d.report(s, h, root.Problems)
		h.outside.Store(!below && len(root.Problems) > 0)
		h.queryOnly.Store(root.QueryOnly)
	}
	if by.Pretty {
		h.queryOnly.Store(false)
	}
	pause := discoverEvery
	if err != nil || len(root.Problems) > 0 {
		pause = min(discoverEvery, discoverAgain<<min(h.failures, 10))
		h.failures++
	} else {
		h.failures = 0
	}
	h.due.Store(time.Now().Add(jittered(pause, rand.Float64())).UnixNano()) //nolint:gosec // no secret
	return root
}

// failed logs that a root could not be read. The first failure of its kind is a warning if
// the answer shows the cause.
func (d *discovery) failed(s *site, err error) {
	level, text := zap.DebugLevel, err.Error()
	var unexpected *ask.UnexpectedError
	if errors.As(err, &unexpected) && !d.logged[text] && len(d.logged) < maxLogged {
		d.logged[text] = true
		level = zap.WarnLevel
	}
	s.logger.Log(level, "the REST root could not be read", zap.String("site", s.Name), zap.Error(err))
}

// maxLogged bounds the texts of problems that are remembered, since hosts stand in some.
const maxLogged = 100

// report logs the new problems of a host and counts those of all hosts.
func (d *discovery) report(s *site, h *hostRoot, problems []policies.Problem) {
	for _, p := range h.problems {
		delete(d.logged, p.Text)
	}
	before := h.problems
	h.problems = problems
	for _, p := range problems {
		known := d.logged[p.Text] || len(d.logged) >= maxLogged
		for _, q := range before {
			known = known || p == q
		}
		if !known {
			s.logger.Warn("the configuration does not fit the site",
				zap.String("site", s.Name), zap.String("code", p.Code), zap.String("problem", p.Text))
		}
		if len(d.logged) < maxLogged {
			d.logged[p.Text] = true
		}
	}
	counts, found := map[string]int{}, map[policies.Problem]bool{}
	d.hosts.Each(func(_ string, h *hostRoot) {
		for _, p := range h.problems {
			counts[p.Code]++
			if len(found) < maxLogged {
				found[p] = true
			}
		}
	})
	s.state.found(found)
	for _, code := range policies.ProblemCodes() {
		if change := counts[code] - d.problems[code]; change != 0 {
			s.metrics.misconfigured.WithLabelValues(s.Name, code).Add(float64(change))
		}
	}
	d.problems = counts
}
