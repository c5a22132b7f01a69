package wait

import (
	"testing"
	"time"
)

// TestFor: it asks again, and no more often than needed.
func TestFor(t *testing.T) {
	t.Parallel()
	asked := 0
	For(t, time.Minute, "the third time", func() bool {
		asked++
		return asked == 3
	})
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}
