package platforms

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

const (
	wordpressAllow  = "Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type"
	wordpressExpose = "X-WP-Total, X-WP-TotalPages, Link"
)

const (
	allows Marks = 1 << iota
	exposes
)

func TestMarks(t *testing.T) {
	t.Parallel()
	p, _ := ByName("wordpress")
	for name, test := range map[string]struct {
		before, added []string // "A: value" of Access-Control-Allow-Headers, "E: value" of …-Expose-Headers
		want          Marks
	}{
		"a page":                   {},
		"a call":                   {added: []string{"A: " + wordpressAllow, "E: " + wordpressExpose}, want: allows | exposes},
		"one is filtered out":      {added: []string{"A: Authorization", "E: " + wordpressExpose}, want: exposes},
		"in lower case":            {added: []string{"A: x-wp-nonce"}, want: allows},
		"more is added":            {added: []string{"E: X-My-Header,\tx-wp-total ,Link"}, want: exposes},
		"a longer word":            {added: []string{"A: X-WP-Nonce-Old, Not-X-WP-Nonce", "E: X-WP-TotalPages"}},
		"the words exchanged":      {added: []string{"E: X-WP-Nonce", "A: X-WP-Total"}},
		"set before":               {before: []string{"A: " + wordpressAllow, "E: " + wordpressExpose}},
		"set before, and a call":   {before: []string{"A: " + wordpressAllow}, added: []string{"A: " + wordpressAllow}, want: allows},
		"in a second line":         {added: []string{"A: Authorization", "A: X-WP-Nonce"}, want: allows},
		"another platform's words": {added: []string{"A: X-CMS-Nonce", "E: X-CMS-Total"}},
	} {
		h := http.Header{}
		add := func(lines []string) {
			for _, line := range lines {
				header, value, _ := strings.Cut(line, ": ")
				h.Add(map[string]string{"A": "Access-Control-Allow-Headers", "E": "Access-Control-Expose-Headers"}[header], value)
			}
		}
		add(test.before)
		before := MarkHeadersOf(h)
		add(test.added)
		if got := p.Marks(MarkHeadersOf(h), &before); got != test.want {
			t.Errorf("%s: %v, want %v", name, got.Headers(), test.want.Headers())
		}
	}
	h := http.Header{"Access-Control-Allow-Headers": {"Authorization"}}
	before := MarkHeadersOf(h)
	h.Set("Access-Control-Allow-Headers", wordpressAllow) // in place of what stood there
	if got := p.Marks(MarkHeadersOf(h), &before); got != allows {
		t.Errorf("replaced: %v", got.Headers())
	}
}

// TestMarks_Allocations: every page is looked at.
func TestMarks_Allocations(t *testing.T) {
	p, _ := ByName("wordpress")
	h := http.Header{"Access-Control-Allow-Headers": {wordpressAllow}, "Access-Control-Expose-Headers": {wordpressExpose}}
	var before MarkHeaders
	if n := testing.AllocsPerRun(100, func() { p.Marks(MarkHeadersOf(h), &before) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzMarks: a value is a mark if one of its items is the word, however it is written, and
// what stood in the headers before is none.
func FuzzMarks(f *testing.F) {
	for _, value := range []string{wordpressAllow, wordpressExpose, "", ",", " ,\tX-WP-NONCE\t,", "X-WP-Nonce-2", "x-wp-total"} {
		f.Add(value, value)
	}
	p, _ := ByName("wordpress")
	f.Fuzz(func(t *testing.T, allow, expose string) {
		has := func(value, word string) bool {
			items := strings.FieldsFunc(value, func(c rune) bool { return c == ',' })
			return slices.ContainsFunc(items, func(item string) bool { return strings.EqualFold(strings.Trim(item, " \t"), word) })
		}
		want := Marks(0)
		if has(allow, "X-WP-Nonce") {
			want |= allows
		}
		if has(expose, "X-WP-Total") {
			want |= exposes
		}
		h := MarkHeaders{{allow}, {expose}}
		if got := p.Marks(h, new(MarkHeaders)); got != want {
			t.Errorf("%v of %q and %q", got.Headers(), allow, expose)
		}
		if got := p.Marks(h, &h); got != 0 {
			t.Errorf("%v stood there before", got.Headers())
		}
		longer := MarkHeaders{{"x", allow}, {expose, "y"}}
		if got := p.Marks(longer, &MarkHeaders{{"x"}, {"z"}}); got != want {
			t.Errorf("%v beside others", got.Headers())
		}
	})
}
