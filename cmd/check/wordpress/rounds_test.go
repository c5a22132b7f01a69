//go:build wordpress

package wordpress

import (
	"strconv"
	"testing"
	"time"
)

// roundSize is how many random requests one test makes. A find ends its own round, and
// the others go on.
const roundSize = 250

// rounds splits n random requests into tests that run side by side, and returns when they
// have ended. Where limit is set they go on one after the other until it is over, or
// until several have failed.
func rounds(t *testing.T, n int, limit time.Duration, run func(t *testing.T, n int)) {
	t.Helper()
	const maxFailed = 5
	t.Run("random", func(t *testing.T) {
		start, failed := time.Now(), 0
		for round := 1; limit == 0 && n > 0 || time.Since(start) < limit && failed < maxFailed; round++ {
			size := roundSize
			if limit == 0 {
				size = min(n, roundSize)
				n -= size
			}
			passed := t.Run(strconv.Itoa(round), func(t *testing.T) {
				if limit == 0 {
					t.Parallel()
				}
				run(t, size)
			})
			if !passed {
				failed++
			}
		}
	})
}
