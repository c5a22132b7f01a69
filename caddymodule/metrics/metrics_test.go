package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

func twoSites(yield func(string, Site) bool) {
	_ = yield("a.example", Site{Locked: true, RouteChanges: 3, Opens: 4}) && yield("b.example", Site{Misread: 2, Closes: 5})
}

// TestMetrics: gateways of one configuration share their series, another configuration
// starts at zero, and labels are of a closed set.
func TestMetrics(t *testing.T) {
	site := policytest.NewSite(t)
	chain, err := policies.NewChain(site, policy.Enforce, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := chain.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		registry := prometheus.NewPedanticRegistry()
		first, second := New(registry, false, twoSites), New(registry, false, twoSites)
		codes := first.Codes(site, chain)
		for _, code := range []policy.Code{site.Code("shop_order_invalid_id"), "made up"} {
			first.Decided(codes, policy.Decision{Outcome: policy.Refuse, Policy: "order_type", Verdict: policy.Verdict{Code: code}}, nil)
		}
		for code, want := range map[string]float64{"woocommerce_rest_shop_order_invalid_id": 1, other: 1, "rest_forbidden": 0} {
			if got := testutil.ToFloat64(second.decisions.WithLabelValues("order_type", code, "refused")); got != want {
				t.Errorf("%s: %v", code, got)
			}
		}
		if n := testutil.CollectAndCount(first.decisions); n > 100 {
			t.Errorf("%d series", n)
		}
		if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
			t.Error(problems, err)
		}
	}
	New(nil, false, nil).Decided(nil, policy.Decision{Outcome: policy.Pass}, nil) // without a registry, not exported
}

// TestMetrics_Host: with perHost, each decision asks for its host.
func TestMetrics_Host(t *testing.T) {
	m := New(nil, true, nil)
	m.Decided(Codes{"none": true}, policy.Decision{Outcome: policy.Pass}, func() string { return "a.example" })
	if got := testutil.ToFloat64(m.decisions.WithLabelValues("none", "none", "pass", "a.example")); got != 1 {
		t.Error(got)
	}
}

// TestMetrics_Sites: what outlives a configuration is read of each site.
func TestMetrics_Sites(t *testing.T) {
	var want strings.Builder
	for _, f := range []struct{ name, help, kind, a, b string }{
		{"close", "Lines that are switched on and close calls of the site to everybody whom the platform has not verified.", "gauge", "0", "5"},
		{"lockdown", "1 while a lockdown closes the site to anonymous callers, else 0.", "gauge", "1", "0"},
		{"misread_total", "Pages that the REST interface of the site has answered, so that no rule has judged the call.", "counter", "0", "2"},
		{"open", "Lines that are switched on and open calls of the site to anyone.", "gauge", "4", "0"},
		{"route_changes_total", "Routes that have appeared in a REST root of the site, or vanished from it.", "counter", "3", "0"},
	} {
		name := "caddy_restwarden_" + f.name
		fmt.Fprintf(&want, "# HELP %s %s\n# TYPE %[1]s %[3]s\n%[1]s{site=\"a.example\"} %[4]s\n%[1]s{site=\"b.example\"} %[5]s\n", name, f.help, f.kind, f.a, f.b)
	}
	if err := testutil.CollectAndCompare(siteCollector{twoSites}, strings.NewReader(want.String())); err != nil {
		t.Error(err)
	}
}

// TestMetrics_Asked: how a question ended is what its series says.
func TestMetrics_Asked(t *testing.T) {
	for want, c := range map[Result]struct {
		usable bool
		err    error
	}{
		resultOK:       {true, nil},
		ResultError:    {false, nil},
		ResultTimeout:  {false, fmt.Errorf("asked: %w", context.DeadlineExceeded)},
		resultCanceled: {false, context.Canceled},
	} {
		m := New(nil, false, nil)
		m.Asked(ask.KindCaller, c.usable, c.err, time.Second)
		if got := testutil.ToFloat64(m.lookups.WithLabelValues(string(ask.KindCaller), string(want))); got != 1 {
			t.Errorf("%s: %v", want, got)
		}
	}
}

// TestStore: each operation counts with its result.
func TestStore(t *testing.T) {
	memory, err := store.NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	m := New(nil, false, nil)
	skipped := func(error) Result { return ResultSkipped }
	for _, s := range []store.Store{m.Store(memory, skipped), m.Store(failing{memory}, skipped)} {
		ctx, rate := t.Context(), store.Rate{Count: 1, Per: time.Minute}
		_, _, _ = s.Get(ctx, "k:a")
		_, _ = s.GetAll(ctx, "k:a")
		_ = s.Set(ctx, "k:a", "v", time.Minute)
		_ = s.SetAll(ctx, "v", time.Minute, "k:a")
		_ = s.Delete(ctx, "k:a")
		_, _ = s.SetOnce(ctx, "k:a", time.Minute)
		_, _ = s.Take(ctx, "k:a", rate)
		_ = s.Announce(ctx, "k:a", "m", time.Minute)
	}
	for op, want := range map[string]float64{"get": 2, "set": 2, "delete": 1, "set_once": 1, "take": 1, "announce": 1} {
		for _, result := range []Result{resultOK, ResultSkipped} {
			if got := testutil.ToFloat64(m.storeOperations.WithLabelValues(op, string(result))); got != want {
				t.Errorf("%s %s: %v", op, result, got)
			}
		}
	}
}

// failing is a store of which every operation that is counted fails.
type failing struct{ store.Store }

var errFailing = errors.New("failing")

func (failing) Get(context.Context, string) (string, bool, error) { return "", false, errFailing }
func (failing) GetAll(context.Context, ...string) (map[string]string, error) {
	return nil, errFailing
}
func (failing) Set(context.Context, string, string, time.Duration) error { return errFailing }
func (failing) SetAll(context.Context, string, time.Duration, ...string) error {
	return errFailing
}
func (failing) Delete(context.Context, ...string) error { return errFailing }
func (failing) SetOnce(context.Context, string, time.Duration) (bool, error) {
	return false, errFailing
}

func (failing) Take(context.Context, string, store.Rate) (store.Taken, error) {
	return store.Taken{}, errFailing
}
func (failing) Announce(context.Context, string, string, time.Duration) error { return errFailing }
