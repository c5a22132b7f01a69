//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// firstOrder is the id of the first order that is made to be updated once.
const firstOrder = 200_000

// BenchmarkFirstUpdate measures what an update of an order takes where neither caller nor order
// is known: by the shop alone, and with the gateway in front, which asks first. One operation is
// an update of each.
func BenchmarkFirstUpdate(b *testing.B) {
	n, err := setUps(b).newStandins()
	if err != nil {
		b.Fatal(err)
	}
	n.variable = "STANDIN_NOTHING" // the shop stands in as ever
	bare, guarded := n.add("first-bare", "1"), n.add("first-guarded", "1", "login_only")
	if err := n.start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := n.sql(context.WithoutCancel(b.Context()), n.site(fpm), fmt.Sprintf("DELETE FROM {prefix}standin_records WHERE id >= %d", firstOrder)); err != nil {
			b.Error(err)
		}
	})
	took, updates := map[*standinGate][]time.Duration{}, 0
	update := func(g *standinGate) {
		updates++
		as, order := g.Site.Accounts["administrator"], firstOrder+updates
		as.Application = respaced(as.Application, updates)
		if _, err := n.sql(b.Context(), g.Site, fmt.Sprintf(
			"INSERT INTO {prefix}standin_records (id, type, status, customer_note) VALUES (%d, '%s', 'processing', '')", order, typeOrder)); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		a, err := n.fetch(b.Context(), g, request{
			method: "PUT", path: fmt.Sprintf("/wp-json/wc/v3/orders/%d", order), body: `{"customer_note":"first"}`, as: &as,
		})
		if err != nil || a.status != 200 || (g == guarded) != (a.decision == "call pass") {
			b.Fatalf("%s: %v %v", g.Name, err, a)
		}
		took[g] = append(took[g], time.Since(start))
	}
	for _, g := range n.Gates { // PHP compiles the site
		update(g)
		took[g] = nil
	}
	for b.Loop() {
		update(bare)
		update(guarded)
	}
	median := func(g *standinGate) float64 {
		slices.Sort(took[g])
		return float64(took[g][len(took[g])/2].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op") // the length of both says nothing
	b.ReportMetric(median(bare), "bare-ms")
	b.ReportMetric(median(guarded), "guarded-ms")
	b.ReportMetric(median(guarded)/median(bare), "ratio")
}

// respaced spells an application password in the n-th way, which a cache has not seen: the
// platform drops all but letters and digits.
func respaced(password string, n int) string {
	var text strings.Builder
	for i, c := range password {
		text.WriteRune(c)
		if n>>i&1 == 1 {
			text.WriteByte('-')
		}
	}
	return text.String()
}
