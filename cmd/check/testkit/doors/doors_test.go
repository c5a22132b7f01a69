package doors

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/names"
)

// TestAll: every door aims at the record, has a name of its own, and nothing of it is left
// to be filled in.
func TestAll(t *testing.T) {
	t.Parallel()
	seen, converting := map[string]bool{}, 0
	for _, d := range All() {
		if seen[d.String()] {
			t.Errorf("twice: %s", d)
		}
		seen[d.String()] = true
		if !d.Kept {
			converting++
		}
		filled := d.At(4711, 4712).In(names.WordPress)
		text := filled.String()
		aims := strings.Contains(text, "4712") || d.Kept
		if !aims || strings.ContainsAny(text, "<>") || strings.Contains(text, "cms") || strings.Contains(text, "shop%2F") || d.Of == "" || d.Method == "" || !strings.HasPrefix(d.Target, "/") {
			t.Errorf("%+v: %s", d, text)
		}
		if hasType := strings.Contains(text, typed); hasType && d.Body == "" {
			t.Errorf("a type without a body: %s", d)
		}
		if d.ByFastCGI && !d.Kept {
			t.Errorf("it converts anywhere: %s", d)
		}
	}
	if converting < 200 {
		t.Errorf("only %d convert", converting)
	}
}

// TestAt: a door can be filled in again.
func TestAt(t *testing.T) {
	t.Parallel()
	d := door("III.4", "PUT"+toOrder, `{"id":<sub>}`, "X-Sub: <sub>")
	for range 2 {
		got := d.At(1, 2).In(names.WordPress)
		if got.Line() != "PUT /wp-json/wc/v3/orders/1" || got.Body != `{"id":2}` || got.Headers[0] != "X-Sub: 2" || got.Headers[1] != "Content-Type: application/json" {
			t.Errorf("%+v", got)
		}
	}
}
