package refusals

import (
	"fmt"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/record"
)

// TestLast: the last records are kept, the newest first, however many there were.
func TestLast(t *testing.T) {
	t.Parallel()
	var l Last
	for n := range 3*Kept + 5 {
		l.Add(adminapi.Refusal{Record: record.Record{Method: fmt.Sprint(n)}})
		all := l.All()
		if len(all) != min(n+1, Kept) {
			t.Fatalf("%d are kept of %d", len(all), n+1)
		}
		for i, rec := range all {
			if rec.Method != fmt.Sprint(n-i) {
				t.Fatalf("record %d of %d is %s", i, n, rec.Method)
			}
		}
	}
}
