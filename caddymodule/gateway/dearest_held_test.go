//go:build !race

package gateway

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
)

// small is what the gateway may hold of an exchange without counting it: its reading, and the
// first chunk of a body. copied is what it copies an answer with, as a proxy does.
const (
	small  = 16 << 10
	copied = 32 << 10
)

// dear is what a kind of request holds most with, as the benchmark found: the place and the
// beginning of the units.
type dear struct{ kind, place, unit string }

// find returns the requests that d describes, one for each door.
func (d dear) find(tb testing.TB) []*grammar.Repetition {
	tb.Helper()
	all := slices.DeleteFunc(grammar.Repetitions(dearestDoors), func(r *grammar.Repetition) bool {
		return r.Kind != d.kind || r.Place != d.place || !strings.HasPrefix(r.Unit, d.unit)
	})
	if len(all) == 0 {
		tb.Fatalf("nobody makes %v", d)
	}
	return all
}

// wantCounted fails if the gateway holds more of an exchange than its shares count.
func wantCounted(tb testing.TB, g *Gateway, r *grammar.Repetition) {
	tb.Helper()
	if !taken(r) {
		return
	}
	most := int64(small)
	if r.Kind == "answer" {
		most += copied
	}
	// What is left of other tests, and what pools keep from the first time, is in a measurement
	// now and then. What an exchange holds is in each of them.
	var live, shares int64
	for range 5 {
		if live, shares = more(tb, g, r); live <= shares+most {
			return
		}
	}
	tb.Errorf("%s: %d bytes are held of %d that were sent, and %d are counted", r, live, len(r.Wire("a")), shares)
}

// TestDearest_Held: nothing is held that no share counts, of the dearest known request of each
// kind.
func TestDearest_Held(t *testing.T) {
	g := provisioned(t, dearestSite)
	for _, d := range dearest {
		t.Run(d.kind+"/"+d.place, func(t *testing.T) {
			for _, r := range d.find(t) {
				wantCounted(t, g, r)
			}
		})
	}
}

// dearestTries are how many requests of each kind a usual run makes at random.
const dearestTries = 10

// TestDearest_Random: nothing is held that no share counts, of requests that repeat units at
// random. It is no fuzz target: a measurement stops the world, and no coverage guides it.
func TestDearest_Random(t *testing.T) {
	seed, err := environment.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	nightly, err := environment.Nightly()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RESTWARDEN_SEED=%d repeats this run", seed)
	g := provisioned(t, dearestSite)
	random, until := grammar.New(seed, 1), time.Now().Add(nightly)
	for n := 0; n < dearestTries || time.Now().Before(until); n++ {
		for _, kind := range heldKinds {
			wantCounted(t, g, random.Repetition(kind, dearestDoors))
		}
	}
}
