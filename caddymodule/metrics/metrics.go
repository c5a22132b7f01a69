// Package metrics counts what happens in the gateway. It alone knows the names and labels under
// which Prometheus reads that.
package metrics

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
)

// namespace and subsystem begin each name: caddy_restwarden_….
const (
	namespace = "caddy"
	subsystem = "restwarden"
)

// none is the value of the label policy for calls that pass.
const none = "none"

// other is the label for a code that the catalog does not list.
const other = "other"

// Failed is the outcome of an agent's call that passed, and to which the platform answered with
// an error of HTTP or of the protocol. A tool that says of itself that it failed has run.
const Failed policy.Outcome = "failed"

// Result is what became of a question or of an operation of a store.
type Result string

// Results of operations of a store. Those of questions are some of them, and two more.
const (
	ResultError   Result = "error"
	ResultTimeout Result = "timeout"
	ResultSkipped Result = "skipped" // not tried: the store was too slow a moment ago

	resultOK       Result = "ok"
	resultCanceled Result = "canceled"
	resultCached   Result = "cached" // not asked: the answer was known
)

// slow are buckets above 10 s: a question may take as long as identity's timeout, 30 s by default.
var slow = []float64{20, 30, 60}

// Metrics are the collectors of one configuration, shared by its gateways. Their
// labels come from constants and from the catalog only (docs/project/design 10).
type Metrics struct {
	decisions        *prometheus.CounterVec
	decisionDuration prometheus.Histogram
	lookups          *prometheus.CounterVec
	lookupDuration   *prometheus.HistogramVec
	lookupsLeft      prometheus.Gauge
	storeOperations  *prometheus.CounterVec
	misconfigured    *prometheus.GaugeVec
	siteInfo         *prometheus.GaugeVec
	agentCalls       *prometheus.CounterVec
	perHost          bool                            // decisions have the label host, as Caddy's own metrics
	passed           prometheus.Counter              // of decisions; nil with perHost
	cached           map[ask.Kind]prometheus.Counter // of lookups
	storeDone        map[string]prometheus.Counter   // of storeOperations, by op
}

// New registers the collectors, or finds those of another gateway of the same
// configuration. Without a registry they are not exported.
// perHost gives decisions the label host. sites are read by name at each scrape.
func New(registry *prometheus.Registry, perHost bool, sites iter.Seq2[string, Site]) *Metrics {
	labels := []string{"policy", "code", "outcome"}
	if perHost {
		labels = append(labels, "host")
	}
	m := &Metrics{
		perHost: perHost,
		decisions: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "decisions_total",
			Help: "Calls by what became of them and why.",
		}, labels)),
		decisionDuration: registerOrExisting(registry, prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "decision_duration_seconds",
			Help:    "Time to decide on a call, questions included.",
			Buckets: append([]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, slow...),
		})),
		lookups: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "lookups_total",
			Help: "Questions to the platform.",
		}, []string{"kind", "result"})),
		lookupDuration: registerOrExisting(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "lookup_duration_seconds",
			Help: "Time until the platform answered a question.", Buckets: append(slices.Clone(prometheus.DefBuckets), slow...),
		}, []string{"kind"})),
		lookupsLeft: registerOrExisting(registry, prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "lookups_left",
			Help: "Questions whose time is over and which the backend has not ended.",
		})),
		storeOperations: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "store_operations_total",
			Help: "Operations of the store.",
		}, []string{"op", "result"})),
		misconfigured: registerOrExisting(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "misconfigured",
			Help: "Settings that do not fit the site, as the configuration or its REST root tells.",
		}, []string{"site", "problem"})),
		agentCalls: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "agent_calls_total",
			Help: "Calls of abilities, tools, prompts and resources by agents.",
		}, []string{"site", "outcome"})),
		siteInfo: registerOrExisting(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "site_info",
			Help: "1 for every guarded site.",
		}, []string{"site", "platform", "mode", "release"})),
	}
	registerOrExisting(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "spooled_bytes",
		Help: "Bytes of request bodies and rewritten answers that are spooled to disk.",
	}, pool.SpooledBytes))
	registerOrExisting(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "buffered_bytes",
		Help: "Bytes of request bodies, parts of batches and rewritten answers that are in memory.",
	}, pool.BufferedBytes))
	registerOrExisting(registry, prometheus.Collector(siteCollector{sites}))
	m.zero()
	return m
}

// registerOrExisting registers c, or returns the collector that another gateway of the
// configuration has registered.
func registerOrExisting[C prometheus.Collector](registry *prometheus.Registry, c C) C {
	if registry == nil {
		return c
	}
	if err := registry.Register(c); err != nil {
		if are, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
			if existing, ok := are.ExistingCollector.(C); ok {
				return existing
			}
		}
	}
	return c
}

// zero creates the series at 0.
func (m *Metrics) zero() {
	m.cached = map[ask.Kind]prometheus.Counter{}
	for _, kind := range ask.Kinds {
		m.cached[kind] = m.lookups.WithLabelValues(string(kind), string(resultCached))
		for _, result := range []Result{resultOK, ResultError, ResultTimeout, resultCanceled} {
			m.lookups.WithLabelValues(string(kind), string(result))
		}
		m.lookupDuration.WithLabelValues(string(kind))
	}
	m.storeDone = map[string]prometheus.Counter{}
	for _, op := range storeOps {
		m.storeDone[op] = m.storeOperations.WithLabelValues(op, string(resultOK))
		for _, result := range storeResults {
			m.storeOperations.WithLabelValues(op, string(result))
		}
	}
	if !m.perHost {
		m.passed = m.decisions.WithLabelValues(none, string(policy.CodeNone), string(policy.Pass))
	}
}

// Site shows a guarded site. mode and release are those of the configuration; none are the
// default.
func (m *Metrics) Site(name, platform string, mode policy.Mode, release string) {
	m.siteInfo.WithLabelValues(name, platform, string(cmp.Or(mode, policy.Enforce)), cmp.Or(release, "auto")).Set(1)
}

// Odd shows that the configuration of a site has the finding of a code.
func (m *Metrics) Odd(site, code string) { m.misconfigured.WithLabelValues(site, code).Set(1) }

// Misfits adds to the problems of a code that the REST roots of a site show.
func (m *Metrics) Misfits(site, code string, more int) {
	m.misconfigured.WithLabelValues(site, code).Add(float64(more))
}

// Agents creates the series of a site whose agents are audited at 0.
func (m *Metrics) Agents(site string) {
	for _, outcome := range []policy.Outcome{policy.Pass, Failed, policy.Refuse, policy.WouldRefuse} {
		m.agentCalls.WithLabelValues(site, string(outcome))
	}
}

// AgentCalled counts a call of an agent.
func (m *Metrics) AgentCalled(site string, outcome policy.Outcome) {
	m.agentCalls.WithLabelValues(site, string(outcome)).Inc()
}

// Remembered counts a question that was not asked.
func (m *Metrics) Remembered(kind ask.Kind) { m.cached[kind].Inc() }

// Asked counts a question that was asked. An answer that cannot be used is an error.
func (m *Metrics) Asked(kind ask.Kind, usable bool, err error, took time.Duration) {
	result := resultOK
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		result = ResultTimeout
	case errors.Is(err, context.Canceled):
		result = resultCanceled
	case err != nil || !usable:
		result = ResultError
	}
	m.lookups.WithLabelValues(string(kind), string(result)).Inc()
	m.lookupDuration.WithLabelValues(string(kind)).Observe(took.Seconds())
}

// Left counts a question that nobody waits for until it has ended.
func (m *Metrics) Left(ended <-chan struct{}) {
	m.lookupsLeft.Inc()
	go func() {
		<-ended
		m.lookupsLeft.Dec()
	}()
}

// Took counts the time of a decision, questions included.
func (m *Metrics) Took(d time.Duration) { m.decisionDuration.Observe(d.Seconds()) }

// Codes are those that the decisions of a chain may have.
type Codes map[string]bool

// Codes returns the codes that a site's chain may give, and creates their series at 0.
func (m *Metrics) Codes(site *policy.Site, chain *policy.Chain) Codes {
	known := Codes{string(policy.CodeNone): true}
	for _, p := range chain.WithLockdown() {
		codes := append([]policy.Code{policy.CodeUnavailable}, policy.ReadingCodes...)
		for i, code := range append(codes, p.Codes...) {
			label := string(site.Code(code))
			known[label] = true
			if m.perHost || i > 0 && i < len(codes) {
				continue // possible, but too rare for a series at 0
			}
			for _, outcome := range []policy.Outcome{policy.Refuse, policy.WouldRefuse} {
				m.decisions.WithLabelValues(p.Name, label, string(outcome))
			}
		}
	}
	known[string(policy.CodeTooMany)] = true // of any policy that asks who is calling
	known[string(policy.CodePlatform)] = true
	return known
}

// Decided counts a decision. known are the codes that may be labels; host is asked where hosts
// are labels, and returns one of a closed set.
func (m *Metrics) Decided(known Codes, d policy.Decision, host func() string) {
	if d.Outcome == policy.Pass && m.passed != nil {
		m.passed.Inc() // nearly all calls
		return
	}
	code := string(d.Code())
	if !known[code] {
		code = other
	}
	labels := append(make([]string, 0, 4), cmp.Or(d.Policy, none), code, string(d.Outcome))
	if m.perHost {
		labels = append(labels, host())
	}
	m.decisions.WithLabelValues(labels...).Inc()
}
