package caller

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
)

// TestCache_Refused: a refusal is kept for as long as it counts, and only a small one.
func TestCache_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, of := newIdentityCache(), lifetime{time.Minute, rejectedTTL}
		refusal := func(size int) identityEntry {
			return identityEntry{identity: identity{answer: &ask.Answer{Status: 401, Body: make([]byte, size)}}}
		}
		for i := range 100 {
			c.put(strconv.Itoa(i), 0, refusal(300), of)
		}
		if n := c.entries.Len(); n != 100 {
			t.Errorf("%d refusals are kept, want 100", n)
		}
		time.Sleep(rejectedTTL + time.Millisecond)
		c.put("next", 0, refusal(300), of)
		if items := c.entries.Metrics(); c.entries.Len() != 1 || items.Evictions != 100 {
			t.Errorf("%d refusals are kept after their time, %d have gone", c.entries.Len(), items.Evictions)
		}
		c.put("large", 0, refusal(maxRefusal+1), of)
		if _, is, _ := c.get("large", time.Minute); is != unknown {
			t.Error("a refusal of any size is kept")
		}
	})
}
