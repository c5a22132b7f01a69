package suggest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// TestClients_Order: which clients count as scanners does not depend on the order in which the
// signs come, also where some must be forgotten. Nothing is known of a client that is forgotten.
func TestClients_Order(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var signs []uint64
	for i := range 400 {
		client, _ := clientOf(fmt.Sprint("client ", i))
		signs = append(signs, slices.Repeat([]uint64{client}, 1+i%15)...)
	}
	everybody := slices.Compact(slices.Sorted(slices.Values(signs)))
	var want clients
	for try := range 20 {
		random.Shuffle(len(signs), func(i, j int) { signs[i], signs[j] = signs[j], signs[i] })
		got := clients{signs: map[uint64]uint8{}, limit: 50}
		for _, client := range signs {
			got.sign(client, 1)
		}
		got.forget()
		if try == 0 {
			want = got
		}
		if got.beyond != want.beyond || !maps.Equal(got.signs, want.signs) || len(got.signs) != 50 {
			t.Fatalf("%d, %d clients; before %d, %d", got.beyond, len(got.signs), want.beyond, len(want.signs))
		}
		of := map[standing]int{}
		for _, client := range everybody {
			of[got.standing(client)]++
		}
		if of[honest]+of[scanner] != 50 || of[honest] == 0 || of[scanner] == 0 || of[unsure] != len(everybody)-50 {
			t.Errorf("%v", of)
		}
	}
	if want.standing(want.beyond+1) != unsure {
		t.Error("something is known of a client that may have been forgotten")
	}
}

// TestClients_Bounded: the clients that are kept have a bound, whoever calls.
func TestClients_Bounded(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	c := clients{signs: map[uint64]uint8{}, limit: maxSigns}
	for range 3_000_000 {
		c.sign(random.Uint64(), 1)
		if len(c.signs) > 2*maxSigns {
			t.Fatal(len(c.signs))
		}
	}
	if c.beyond == 0 {
		t.Error("nobody was forgotten: the test proves nothing")
	}
}

// TestSample: a set holds the smallest numbers, in any order, and knows that there are more.
func TestSample(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, maxSample - 1, maxSample, maxSample + 1, 10 * maxSample} {
		var all []uint64
		for i := range n {
			all = append(all, uint64(i), uint64(i))
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var s sample
		for _, client := range all {
			s.add(client, maxSample)
		}
		if len(s.clients) != min(n, maxSample) || s.more != (n > maxSample) {
			t.Fatalf("%d of %d, %v", len(s.clients), n, s.more)
		}
		for i, client := range s.clients {
			if client != uint64(i) {
				t.Fatalf("of %d the set has %d at %d", n, client, i)
			}
		}
	}
}

// TestAdd_TooMany: too many different calls are an error, not memory.
func TestAdd_TooMany(t *testing.T) {
	t.Parallel()
	wordpress, _ := platforms.ByName("wordpress")
	c, err := New(Options{Platform: wordpress})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxRows {
		c.rows[subject{site: fmt.Sprint(i)}] = &row{}
	}
	if err := c.Add(&records.Record{Record: record.Record{Outcome: "would_refuse", Site: "another"}}); err != ErrTooMany { //nolint:errorlint // it is not wrapped
		t.Error(err)
	}
}
