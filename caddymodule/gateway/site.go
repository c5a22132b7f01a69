package gateway

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/policy"
)

// site is what a directive guards at one place of the configuration: the hosts of the
// innermost host matcher on the way to it, and its base. One handler of a named route may
// guard several sites.
type site struct {
	policy.Site
	*engine
	g         *Gateway
	reader    *call.Reader
	logger    *zap.Logger
	agents    *zap.Logger // the audit log
	journaled *zap.Logger // the journal
	metrics   *metrics.Metrics
	asks      questions.Site
	way       routing.Way // on which requests reach it
	trace     policy.Trace
	state     *siteState
	discovery *discovery
	plain     *plainPages
	desk      *confirming.Desk // nil unless calls may have to wait for a person; a dry run has none
	life      context.Context  // ends with the site
	end       context.CancelFunc
	leases    pool.Leases
	broken    error // why no call can be judged
	learns    bool  // answers that pass prove facts about later calls
}

type identitiesKey struct{ caller.Options }

// newSite returns the site of g on a way; the zero Way is a way that nobody knows. Another
// way to the same site may lead to another backend: apart then tells the callers and the
// proofs of the two apart. The caller must close the site.
func newSite(g *Gateway, way routing.Way, apart string) *site {
	s := &site{Site: *g.engine.every, engine: g.engine, g: g, way: way, plain: newPlainPages()}
	s.reader, s.logger, s.agents, s.journaled, s.metrics = g.engine.reader, g.app.logger, g.app.agents, g.app.journaled, g.app.metrics
	s.asks = questions.Site{Prefix: s.Prefix, Timeout: s.questions.Timeout, Placeholders: g.app.placeholders, Left: s.metrics.Left}
	if dry := g.app.dry; dry != nil {
		s.asks.Asking, s.asks.Answered = dry.Asking, dry.Answered
	}
	s.life, s.end = context.WithCancel(context.Background())
	own := g.engine.every.Clone()
	s.Site.Site, s.Server, s.Name = own, g.server+apart, siteName(way.Hosts, g.server, g.Base)
	s.Release, _ = policy.ParseRelease(g.Release) // has been parsed before
	own.KeysInQuery, own.NoKeysInQuery, own.Home = s.keysInQuery, s.Release.Before(11, 1), s.home
	s.Hosts = way.Hosts
	own.Lists, own.Scripts = s.lists, s.scriptDir
	opts := g.engine.questions
	own.Store, opts.Store = g.app.local, g.app.shared
	switch {
	case g.app.dry != nil:
		own.Store, opts.Store, opts.Alone, opts.InTurn, opts.Rate = first{forgetful{own.Store}}, nil, true, true, math.MaxInt32
	case apart == manyWays:
		own.Store, opts.Store, opts.Alone = forgetful{own.Store}, nil, true
	}
	opts.Before = strings.Join([]string{g.Platform, g.Base, g.Prefix.First()}, " ")
	s.learns = g.app.dry == nil && apart != manyWays // of a dry run, the next one must know nothing
	s.discovery = newDiscovery(s.learnedOf(&way, opts.Before))
	discover.Keep(&s.Site, &s.discovery.roots)
	if apart == manyWays {
		s.discovery.Stop()
	}
	if g.app.dry == nil {
		ledger := confirm.NewLedger(g.app.local, s.Name)
		abilities.Wait(&s.Site, abilities.Waiting{Ledger: ledger, New: s.waits})
		if s.confirmer != nil {
			s.desk = &confirming.Desk{Site: s.Name, Base: s.Base, Ledger: ledger, People: g.app.people, Logger: s.switchLog(), Origin: s.origin}
		}
	}
	opts.Site, opts.Server = s.Name, s.Server
	own.Identities, s.broken = pool.Lease(&s.leases, identitiesKey{opts},
		func() (*caller.Identities, error) { return caller.NewIdentities(opts) })
	s.state, _ = pool.Lease(&s.leases, siteStateKey{s.Name}, func() (*siteState, error) { return newSiteState(s.Name, g.app.running), nil })
	s.Switches = &s.state.switches
	if dry := g.app.dry; dry != nil {
		s.Switches = dry.Switches(s.Name)
	}
	s.listen()
	if way.Server == nil && len(g.sites) > 0 {
		return s // it stands in for sites that are known
	}
	if len(s.auditors) > 0 {
		s.metrics.Agents(s.Name)
	}
	s.metrics.Site(s.Name, g.Platform, g.Mode, g.Release)
	return s
}

// keysInQuery tells whether the shop that answers w certainly takes its credentials in the
// query form too. It waits for the first reading of the REST root, so that a signature works
// from the first call on.
func (s *site) keysInQuery(w *caller.Whole) bool {
	if s.Release.Learns() {
		s.awaitRoot(w)
	}
	return s.Release.AtLeast(w, 11, 1)
}

// lists tells whether the REST root of a host, as it was last read, lists a namespace.
func (s *site) lists(host, namespace string) bool {
	return discover.Of(&s.Site).Index(host).Lists(namespace)
}

// scriptDir returns the directory of the platform's scripts below the base. It waits for the
// first reading of the REST root.
func (s *site) scriptDir(w *caller.Whole) string {
	s.awaitRoot(w)
	return discover.Of(&s.Site).ScriptDir(w.HTTP.Host)
}

// home returns the home address of the site that answers w. It waits for the first reading
// of the REST root, so that the first question is signed for the right address.
func (s *site) home(w *caller.Whole) string {
	s.awaitRoot(w)
	return s.discovery.homeOf(w.HTTP.Host)
}

// awaitRoot waits until the REST root has been read once, or as long as a question may take.
func (s *site) awaitRoot(w *caller.Whole) {
	if x, ok := w.Backend.(*exchange); ok {
		ctx, cancel := context.WithTimeout(w.HTTP.Context(), s.questions.Timeout)
		defer cancel()
		s.discovery.await(ctx, s, w.HTTP, x.rest)
	}
}

// siteName returns the name of the site with these hosts and this base.
func siteName(names []string, server, base string) string {
	if len(names) > 0 {
		return strings.ToLower(hosts.Name(names[0])) + base
	}
	address, _, _ := strings.Cut(server, " ")
	if at, err := caddy.ParseNetworkAddress(address); err == nil && !at.IsUnixNetwork() {
		return "*:" + strconv.FormatUint(uint64(at.StartPort), 10) + base
	}
	return "*" + base
}

// close releases what newSite acquired.
func (s *site) close() error {
	s.end()
	s.discovery.Stop()
	s.plain.end(s)
	return s.leases.Release()
}

// observes tells whether the site as a whole only observes while its switches say f.
func (s *site) observes(f policy.InForce) bool {
	return !f.Enforces() && cmp.Or(f.Mode, s.g.Mode) == policy.Observe
}

// other stands in log and metrics for a host that the configuration does not name, and for a
// method that is none of HTTP's.
const other = "other"

// hostFor returns the host of r if it is one of the site's, or other.
func (s *site) hostFor(r *http.Request) string {
	if s.hostOf(r.Host, r) == other {
		return other
	}
	return strings.ToLower(hosts.Name(r.Host))
}

// hostOf returns the entry of the site's hosts that a host fits, or other.
func (s *site) hostOf(host string, r *http.Request) string {
	host = strings.TrimSuffix(hosts.Name(host), ".")
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	for _, pattern := range s.way.Hosts {
		if strings.Contains(pattern, "{") && repl != nil {
			pattern = repl.ReplaceAll(pattern, "")
		}
		if hosts.Fits(pattern, host) {
			return pattern
		}
	}
	return other
}

// listen turns what happens on the site into metrics, vars and log.
func (s *site) listen() {
	s.trace = policy.Trace{
		Questions: s.state.counting(s.metrics),
		Refused:   func(r *policy.Request, d policy.Decision) { s.count(r, d) },
		Decided: func(r *policy.Request, d policy.Decision) {
			if d.Outcome == policy.Pass {
				s.count(r, d)
			}
			s.report(r, d)
		},
	}
	if s.g.app.dry != nil {
		s.trace = s.g.app.dry.Trace // nothing goes into log and metrics
	}
}

func (s *site) count(r *policy.Request, d policy.Decision) {
	s.metrics.Decided(s.codes, d, func() string { return s.hostOf(r.HTTP.Host, r.HTTP) })
}
