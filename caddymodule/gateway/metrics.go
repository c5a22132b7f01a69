package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
)

// none is the value of the labels policy and code for calls that pass.
const none = "none"

// Results of questions and store operations.
const (
	resultOK       = "ok"
	resultError    = "error"
	resultTimeout  = "timeout"
	resultCanceled = "canceled"
	resultCached   = "cached" // not asked: the answer was known
)

// slow are buckets above 10 s: a question may take as long as identity's timeout, 30 s by default.
var slow = []float64{20, 30, 60}

// metrics are the collectors of one configuration, shared by its gateways. Their
// labels come from constants and from the catalog only (docs/design 10).
type metrics struct {
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

// newMetrics registers the collectors, or finds those of another gateway of the same
// configuration. Without a registry they are not exported.
// perHost gives decisions the label host.
func newMetrics(registry *prometheus.Registry, perHost bool) *metrics {
	const ns, sub = "caddy", "restwarden"
	labels := []string{"policy", "code", "outcome"}
	if perHost {
		labels = append(labels, "host")
	}
	m := &metrics{
		perHost: perHost,
		decisions: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "decisions_total",
			Help: "Calls by what became of them and why.",
		}, labels)),
		decisionDuration: registerOrExisting(registry, prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "decision_duration_seconds",
			Help:    "Time to decide on a call, questions included.",
			Buckets: append([]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, slow...),
		})),
		lookups: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "lookups_total",
			Help: "Questions to the platform.",
		}, []string{"kind", "result"})),
		lookupDuration: registerOrExisting(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "lookup_duration_seconds",
			Help: "Time until the platform answered a question.", Buckets: append(slices.Clone(prometheus.DefBuckets), slow...),
		}, []string{"kind"})),
		lookupsLeft: registerOrExisting(registry, prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "lookups_left",
			Help: "Questions whose time is over and which the backend has not ended.",
		})),
		storeOperations: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "store_operations_total",
			Help: "Operations of the store.",
		}, []string{"op", "result"})),
		misconfigured: registerOrExisting(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "misconfigured",
			Help: "Settings that do not fit the site, as the configuration or its REST root tells.",
		}, []string{"site", "problem"})),
		agentCalls: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "agent_calls_total",
			Help: "Calls of abilities, tools, prompts and resources by agents.",
		}, []string{"site", "outcome"})),
		siteInfo: registerOrExisting(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "site_info",
			Help: "1 for every guarded site.",
		}, []string{"site", "platform", "mode", "release"})),
	}
	registerOrExisting(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: ns, Subsystem: sub, Name: "spooled_bytes",
		Help: "Bytes of request bodies and rewritten answers that are spooled to disk.",
	}, pool.SpooledBytes))
	registerOrExisting(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: ns, Subsystem: sub, Name: "buffered_bytes",
		Help: "Bytes of request bodies, parts of batches and rewritten answers that are in memory.",
	}, pool.BufferedBytes))
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
func (m *metrics) zero() {
	m.cached = map[ask.Kind]prometheus.Counter{}
	for _, kind := range ask.Kinds {
		m.cached[kind] = m.lookups.WithLabelValues(string(kind), resultCached)
		for _, result := range []string{resultOK, resultError, resultTimeout, resultCanceled} {
			m.lookups.WithLabelValues(string(kind), result)
		}
		m.lookupDuration.WithLabelValues(string(kind))
	}
	m.storeDone = map[string]prometheus.Counter{}
	for _, op := range storeOps {
		m.storeDone[op] = m.storeOperations.WithLabelValues(op, resultOK)
		for _, result := range storeResults {
			m.storeOperations.WithLabelValues(op, result)
		}
	}
	if !m.perHost {
		m.passed = m.decisions.WithLabelValues(none, none, string(policy.Pass))
	}
}

// countAgents creates the series of a site whose agents are audited at 0.
func (m *metrics) countAgents(site string) {
	for _, outcome := range []policy.Outcome{policy.Pass, outcomeFailed, policy.Refuse, policy.WouldRefuse} {
		m.agentCalls.WithLabelValues(site, string(outcome))
	}
}

// remembered counts a question that was not asked.
func (m *metrics) remembered(kind ask.Kind) {
	m.cached[kind].Inc()
}

// asked counts a question that was asked. An answer that cannot be used is an error.
func (m *metrics) asked(q ask.Question, a *ask.Answer, err error, took time.Duration) {
	result := resultOf(err)
	if err == nil && unusable(&q, a, nil) != "" {
		result = resultError
	}
	m.lookups.WithLabelValues(string(q.Kind), result).Inc()
	m.lookupDuration.WithLabelValues(string(q.Kind)).Observe(took.Seconds())
}

func resultOf(err error) string {
	switch {
	case err == nil:
		return resultOK
	case errors.Is(err, context.DeadlineExceeded):
		return resultTimeout
	case errors.Is(err, context.Canceled):
		return resultCanceled
	}
	return resultError
}

// other is the label for a code that the catalog does not list, and for a host that the
// configuration does not name.
const other = "other"

// leave counts a question that nobody waits for until it has ended.
func (m *metrics) leave(ended <-chan struct{}) {
	m.lookupsLeft.Inc()
	go func() {
		<-ended
		m.lookupsLeft.Dec()
	}()
}

// known returns the codes that a site's chain may give, and creates their series at 0.
func (m *metrics) known(site *policy.Site, chain *policy.Chain) map[string]bool {
	known := map[string]bool{none: true}
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

// count counts a decision. known are the codes that may be labels; host is used where
// hosts are labels.
func (m *metrics) count(known map[string]bool, d policy.Decision, host string) {
	if d.Outcome == policy.Pass && m.passed != nil {
		m.passed.Inc() // nearly all calls
		return
	}
	code := codeOf(d)
	if !known[code] {
		code = other
	}
	policy := cmp.Or(d.Policy, none)
	if m.perHost {
		m.decisions.WithLabelValues(policy, code, string(d.Outcome), host).Inc()
		return
	}
	m.decisions.WithLabelValues(policy, code, string(d.Outcome)).Inc()
}
