package gateway

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/store"
)

const (
	// discoverEvery is how long a REST root counts as read.
	discoverEvery = time.Hour
	// discoverAgain is the pause after a reading that failed or found a problem. The pause
	// doubles up to discoverEvery, once a root of the host has been found: without one, clients
	// miss what only the root says.
	discoverAgain = time.Minute
	// discoverNew is the pause between readings of hosts in another spelling than the
	// configuration's, since a client may send any.
	discoverNew = time.Second
)

// discovery reads the REST roots of one site in the background, so that no client but the
// first with a shop key waits for it.
type discovery struct {
	*learned
	questions.Reader
}

func newDiscovery(known *learned) *discovery {
	d := &discovery{learned: known}
	d.Open()
	return d
}

// request is called for every call. When a reading is due it starts one, which uses the
// rest of this request's route.
// pretty tells that the call is as the root is asked for, see discover.Reach.
func (d *discovery) request(s *site, r *http.Request, next caddyhttp.Handler, pretty bool, at time.Time) {
	if d.Busy() {
		return
	}
	h, known := d.hosts.Get(r.Host)
	now := at.UnixNano()
	waits := known && now < h.due.Load() && (!pretty || !h.queryOnly.Load())
	if waits && !h.outside.Load() {
		return
	}
	base, below := baseAt(s, r, r.URL.Path)
	if waits && !below || !d.mayLearn(s, r, known, now) {
		return
	}
	vars := varsOf(r)
	by := discover.Reach{Host: strings.Clone(r.Host), Secure: peerOf(r, vars).secure, Base: base, Pretty: pretty}
	spelled := s.isSpelled(r)
	asked := s.asks.Own(r, vars, next)
	if known && h.byClient.Load() {
		asked.From(r, vars)
	}
	b := s.background(asked)
	d.Start(r.Context(), func(ctx context.Context) {
		if root := d.readRoot(ctx, s, b, by, below, spelled); root != nil && s.g.app.dry == nil {
			d.warnNarrow(s, by.Host, root)
			s.drift(ctx, root, by.Host, spelled)
		}
	})
}

// await waits until the root of r's host has been read once. It gives up when ctx ends, and
// where no reading can be started.
func (d *discovery) await(ctx context.Context, s *site, r *http.Request, next caddyhttp.Handler) {
	for range 2 { // the reading that runs may be another host's
		if _, known := d.hosts.Get(r.Host); known {
			return
		}
		d.request(s, r, next, false, time.Now())
		ended := d.Ended()
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

// baseAt returns the base that questions need after the rewrites which r has passed, which came to
// the gateway with this path: "" if they have removed it. below is false for requests outside the base.
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
// root that could not be read. spelled tells whether the configuration names the host, see isSpelled.
func (d *discovery) readRoot(ctx context.Context, s *site, b ask.Backend, by discover.Reach, below, spelled bool) *discover.Root {
	root, err := discover.Discover(ctx, &s.Site, b, by)
	d.mu.Lock()
	defer d.mu.Unlock()
	read := new(hostRoot)
	if err == nil {
		read.learn(root)
	}
	h := d.hosts.GetOrPut(by.Host, func() *hostRoot { return read })
	h.spelled = spelled
	if err != nil {
		d.failed(s, h, err)
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
	found := root != nil && (root.Index != nil || root.Home != "")
	h.found = h.found || found
	h.byClient.Store(!found && !h.byClient.Load())
	pause := discoverEvery
	switch {
	case err == nil && len(root.Problems) == 0 && !h.byClient.Load():
		h.failures = 0
	case !h.found:
		pause = discoverAgain
	default:
		pause = min(discoverEvery, discoverAgain<<min(h.failures, 10))
		h.failures++
	}
	h.due.Store(time.Now().Add(jittered(pause, rand.Float64())).UnixNano()) //nolint:gosec // no secret
	return root
}

// background is b for questions that no client waits for: each has its time.
func (s *site) background(b ask.Backend) ask.Backend {
	return ask.Traced(questions.Timed{Backend: b, Timeout: s.questions.Timeout}, &s.trace.Questions)
}

// pauses say when a host in another spelling than the configuration's may be read, for the first
// time and again.
type pauses struct{ unnamed, renewed atomic.Int64 }

// mayLearn tells whether the host of r may be read now. All spellings but the configuration's
// share one pause: a client may send any number of them. Those that are known have another one, and
// one address takes only a part of the readings, so that honest hosts have theirs.
func (p *pauses) mayLearn(s *site, r *http.Request, known bool, now int64) bool {
	if s.isSpelled(r) {
		return true
	}
	pause := &p.unnamed
	if known {
		pause = &p.renewed
	}
	after := pause.Load()
	if after > now {
		return false
	}
	if address := peerOf(r, varsOf(r)).share(r); !known && address.IsValid() && !newHosts().Allow(s.Name+" "+caller.AddressKey(address)) {
		return false
	}
	return pause.CompareAndSwap(after, now+int64(discoverNew))
}

// newHostsRate is how many unknown hosts of a site the gateway reads for one client's address.
var newHostsRate = store.Rate{Count: 12, Per: time.Minute}

// newHosts counts these readings in this process.
var newHosts = sync.OnceValue(func() *store.Limiter {
	limit, err := store.NewLimiter(newHostsRate)
	if err != nil {
		panic(err) // the rate is a constant
	}
	return limit
})

// jittered returns d, a tenth more or less.
func jittered(d time.Duration, random float64) time.Duration {
	return d*9/10 + time.Duration(random*float64(d)/5)
}

// hostRoot is what is known of the REST root of one host.
type hostRoot struct {
	due       atomic.Int64           // nanoseconds since 1970
	home      atomic.Pointer[string] // the site's home address; nil if no root was read
	index     atomic.Pointer[index.Index]
	outside   atomic.Bool // a problem was found for a request outside of the base
	queryOnly atomic.Bool // the pretty form has no root, and no pretty call has come since
	byClient  atomic.Bool // the next reading comes from the address of a client, since one of the gateway's own has found no root
	spelled   bool        // the configuration names the host, see isSpelled
	found     bool        // some reading has found a root
	failures  int         // readings since that failed or found a problem, one after the other
	problems  []discover.Problem
}

// learn keeps what a root says. A pointer into the root would keep all of it.
func (h *hostRoot) learn(root *discover.Root) {
	home := root.Home
	h.home.Store(&home)
	h.index.Store(root.Index)
}

// hostRootBytes is what a hostRoot takes beside its index, with a long address and problems.
const hostRootBytes = 4 << 10

// Parts implements hosts.Sized. The index counts, so that a host is forgotten, and its root
// read anew, no later than the index.
func (h *hostRoot) Parts(f func(part any, bytes int)) {
	f(h, hostRootBytes)
	h.index.Load().Parts(f)
}
