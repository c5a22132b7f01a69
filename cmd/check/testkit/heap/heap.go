// Package heap measures the memory of a test's own process.
package heap

import (
	"math"
	"runtime"
)

// still is how many collections in a row must free nothing more.
const still = 2

// Live returns the bytes in use once nothing more can be freed: pools are empty, cleanups have
// run, and what tests before this one left is gone.
func Live() int64 {
	least := uint64(math.MaxUint64)
	for same := 0; same < still; same++ {
		cleaned := make(chan struct{})
		runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, cleaned)
		runtime.GC()
		<-cleaned
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc < least-min(least, 1<<10) {
			least, same = m.HeapAlloc, -1
		}
	}
	return int64(least)
}
