package ask_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
)

// TestAnswer_SetHeader: each field keeps its own value, however often one is set.
func TestAnswer_SetHeader(t *testing.T) {
	a := &ask.Answer{Header: http.Header{"Allow": {"GET"}}}
	a.SetHeader("cache-control", "no-store")
	a.SetHeader("Allow", "POST")
	first := a.Header["Cache-Control"]
	a.SetHeader("Cache-Control", "private")
	if !slices.Equal(first, []string{"no-store"}) || a.Header.Get("Allow") != "POST" || a.Header.Get("Cache-Control") != "private" {
		t.Errorf("%v, and before %v", a.Header, first)
	}
	a.Header.Add("Cache-Control", "no-store")
	if n := testing.AllocsPerRun(100, func() { (&ask.Answer{Header: a.Header}).SetHeader("Cache-Control", "no-store") }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
