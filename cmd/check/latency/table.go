package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is what one weather came to, slice by slice.
type row struct {
	weather
	bare, guarded []outcome
	calm          outcome // of the guarded side, where calls are refused in this weather
}

// refusals returns how many calls a second one processor refuses, beside those that are answered: what they take is
// what the Caddy takes more than for these alone. ok is false where that is too little for a figure.
func (r *row) refusals() (each float64, ok bool) {
	guarded := all(r.guarded)
	calm := float64(r.calm.cpu) / float64(len(r.calm.took)) * float64(len(guarded.took))
	more := float64(guarded.cpu) - calm
	return float64(guarded.refused) / time.Duration(max(1, more)).Seconds(), more > calm/5
}

// all returns the slices as one.
func all(parts []outcome) (pooled outcome) {
	for _, o := range parts {
		pooled.add(o)
	}
	return pooled
}

type results []row

// shares are the percentiles of the table.
var shares = []float64{0.5, 0.99, 0.999}

// String writes the results as a table.
func (rs results) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") } // a Builder takes everything
	line("", "requests", "errors", "", "p50, ms", "", "ratio", "p99, ms", "", "ratio", "p99.9, ms", "", "ratio")
	line("", "each", "bare", "guarded", "bare", "guarded", "", "bare", "guarded", "", "bare", "guarded", "")
	for _, r := range rs {
		bare, guarded := all(r.bare), all(r.guarded)
		cells := []string{r.name, fmt.Sprint(len(guarded.took)), fmt.Sprint(bare.errors), fmt.Sprint(guarded.errors)}
		for _, share := range shares {
			one, other := bare.percentile(share), guarded.percentile(share)
			cells = append(cells, ms(one), ms(other), fmt.Sprintf("%.2f", ratio(one, other)))
		}
		line(cells...)
	}
	_ = w.Flush()
	for _, r := range rs {
		if r.refuse {
			each, ok := r.refusals()
			figure := fmt.Sprintf("%.0f a second and processor", each)
			if !ok {
				figure = "too few to tell how many a processor refuses a second: send more by --refused"
			}
			_, _ = fmt.Fprintf(&b, "\n%s: %s, of %d\n", r.name, figure, all(r.guarded).refused)
		}
	}
	return b.String()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

func ratio(bare, guarded time.Duration) float64 { return float64(guarded) / float64(max(bare, 1)) }

// Near the rate that the guarded side holds, calls wait for a processor: ratios of 30 were seen, of
// tens of milliseconds. Calls that waited for a lost Redis, or for questions of others, would take both.
const mostRatio = 10

var mostMore = map[float64]time.Duration{0.5: 100 * time.Millisecond, 0.99: time.Second}

// judge returns an error where a call was not answered that must be, and where calls wait far
// longer than without the directive. Other work on the machine only adds to a latency. So the
// best slice with the directive stands against the worst without.
func (rs results) judge() error {
	var errs []error
	for _, r := range rs {
		for _, o := range []outcome{all(r.bare), all(r.guarded)} {
			if r.strict && o.errors > 0 {
				errs = append(errs, fmt.Errorf("%s: %d errors, the first is: %w", r.name, o.errors, o.first))
			}
		}
		for share, more := range mostMore {
			of := func(a, b outcome) int { return cmp.Compare(a.percentile(share), b.percentile(share)) }
			worst, best := slices.MaxFunc(r.bare, of), slices.MinFunc(r.guarded, of)
			without, with := worst.percentile(share), best.percentile(share)
			if got := ratio(without, with); got > mostRatio && with-without > more {
				errs = append(errs, fmt.Errorf("%s: in each slice, p%.0f is at least %s ms, %.1f times bare Caddy's", r.name, share*100, ms(with), got))
			}
		}
	}
	return errors.Join(errs...)
}
