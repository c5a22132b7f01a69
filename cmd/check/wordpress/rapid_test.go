package wordpress

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"sync"

	"pgregory.net/rapid"
)

// property tries a property on random choices, as many times as n says, and shrinks the
// first find. The choices follow from seed and the test's name.
//
// rapid takes both from its flags, which belong to the whole process, before it calls
// prop for the first time. So tests that run side by side set them in turns. A seed on
// the command line counts as it is: that is how rapid's own message replays a find.
func property(t rapid.TB, seed uint64, n int, prop func(*rapid.T)) {
	t.Helper()
	rapidFlags.Lock()
	begun := sync.OnceFunc(rapidFlags.Unlock)
	defer begun()
	if err := setRapidFlags(seedOf(t.Name(), seed), n); err != nil {
		t.Fatalf("%v", err)
	}
	rapid.Check(t, func(r *rapid.T) {
		begun()
		prop(r)
	})
}

var (
	rapidFlags sync.Mutex
	seedGiven  = sync.OnceValue(func() bool { return flag.Lookup("rapid.seed").Value.String() != "0" })
)

// setRapidFlags needs rapidFlags to be locked.
func setRapidFlags(seed uint64, n int) error {
	if !seedGiven() {
		if err := flag.Set("rapid.seed", strconv.FormatUint(seed, 10)); err != nil {
			return fmt.Errorf("rapid.seed: %w", err)
		}
	}
	return flag.Set("rapid.checks", strconv.Itoa(n))
}

// seedOf returns a seed of a test's own, which is never 0.
func seedOf(name string, seed uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())).Uint64() | 1
}
