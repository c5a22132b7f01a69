package caddymodule

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask"
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

// metrics are the collectors of one configuration, shared by its gateways. Their
// labels come from constants and from the catalog only (docs/design 10).
type metrics struct {
	decisions        *prometheus.CounterVec
	decisionDuration prometheus.Histogram
	lookups          *prometheus.CounterVec
	lookupDuration   *prometheus.HistogramVec
	storeOperations  *prometheus.CounterVec
	misconfigured    prometheus.Gauge
}

// newMetrics registers the collectors, or finds those of another gateway of the same
// configuration. Without a registry they are not exported.
func newMetrics(registry *prometheus.Registry) *metrics {
	const ns, sub = "caddy", "restwarden"
	m := &metrics{
		decisions: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "decisions_total",
			Help: "Calls by what became of them and why.",
		}, []string{"policy", "code", "outcome"})),
		decisionDuration: registerOrExisting(registry, prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "decision_duration_seconds",
			Help:    "Time to decide on a call, questions included.",
			Buckets: []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		})),
		lookups: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "lookups_total",
			Help: "Questions to the platform.",
		}, []string{"kind", "result"})),
		lookupDuration: registerOrExisting(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "lookup_duration_seconds",
			Help: "Time until the platform answered a question.", Buckets: prometheus.DefBuckets,
		}, []string{"kind"})),
		storeOperations: registerOrExisting(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "store_operations_total",
			Help: "Operations of the store.",
		}, []string{"op", "result"})),
		misconfigured: registerOrExisting(registry, prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "misconfigured",
			Help: "Settings that do not fit the site, as its REST root tells.",
		})),
	}
	registerOrExisting(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: ns, Subsystem: sub, Name: "spooled_bytes",
		Help: "Bytes of request bodies that are spooled to disk.",
	}, spooledBytes))
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
	for _, kind := range ask.Kinds {
		for _, result := range []string{resultOK, resultError, resultTimeout, resultCanceled, resultCached} {
			m.lookups.WithLabelValues(string(kind), result)
		}
		m.lookupDuration.WithLabelValues(string(kind))
	}
	for _, op := range storeOps {
		for _, result := range storeResults {
			m.storeOperations.WithLabelValues(op, result)
		}
	}
	m.decisions.WithLabelValues(none, none, string(policies.Pass))
}

// known counts a question that was not asked.
func (m *metrics) known(kind ask.Kind) {
	m.lookups.WithLabelValues(string(kind), resultCached).Inc()
}

// asked counts a question that was asked.
func (m *metrics) asked(q ask.Question, _ *ask.Answer, err error, took time.Duration) {
	m.lookups.WithLabelValues(string(q.Kind), resultOf(err)).Inc()
	m.lookupDuration.WithLabelValues(string(q.Kind)).Observe(took.Seconds())
}

// decisionCounter counts the decisions of one gateway, with labels of a closed set.
type decisionCounter struct {
	decisions *prometheus.CounterVec
	codes     map[string]bool
}

// other is the label for a code that the catalog does not list.
const other = "other"

// knownTo returns the counter for a site's chain, with its series at 0.
func (m *metrics) knownTo(site *policies.Site, chain *policies.Chain) *decisionCounter {
	d := &decisionCounter{decisions: m.decisions, codes: map[string]bool{none: true}}
	for _, p := range chain.Policies() {
		codes := append([]policies.Code{policies.CodeUnavailable}, policies.ReadingCodes...)
		for i, code := range append(codes, p.Codes...) {
			label := string(site.Code(code))
			d.codes[label] = true
			if i > 0 && i < len(codes) {
				continue // possible, but too rare for a series at 0
			}
			for _, outcome := range []policies.Outcome{policies.Refuse, policies.WouldRefuse} {
				m.decisions.WithLabelValues(p.Name, label, string(outcome))
			}
		}
	}
	d.codes[string(policies.CodeTooMany)] = true // of any policy that asks who is calling
	d.codes[string(policies.CodePlatform)] = true
	return d
}

func (d *decisionCounter) count(decision policies.Decision) {
	policy, code := orDefault(decision.Policy, none), codeOf(decision)
	if !d.codes[code] {
		code = other
	}
	d.decisions.WithLabelValues(policy, code, string(decision.Outcome)).Inc()
}
