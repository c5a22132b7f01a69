// Package wait waits in a test for events in the background.
package wait

import (
	"testing"
	"time"
)

// For waits until happened is true. After limit it ends the test as failed, with what.
func For(tb testing.TB, limit time.Duration, what string, happened func() bool) {
	tb.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if happened() {
			return
		}
	}
	tb.Fatalf("never happened: %s", what)
}
