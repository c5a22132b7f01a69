package phpvars

import (
	"regexp"
	"strings"
	"testing"
)

// jsonType is the core's own expression.
var jsonType = regexp.MustCompile(`(^|[\s\x0b]|,)application/([\w!#$&-^.+]+\+)?json(\+oembed)?($|[\s\x0b]|;|,)`)

func checkNamesJSON(t *testing.T, kind string) {
	t.Helper()
	if got, want := namesJSON(kind), jsonType.MatchString(kind); got != want {
		t.Fatalf("%q is JSON: %v, want %v", kind, got, want)
	}
}

// TestNamesJSON: every text of five words that mean something to the expression.
func TestNamesJSON(t *testing.T) {
	words := []string{"application/", "json", "+", "+json", "+oembed", ",", " ", "x", "`", ";", "\x0b", "\u00e9"}
	var extend func(text string, left int)
	extend = func(text string, left int) {
		checkNamesJSON(t, text)
		if left == 0 {
			return
		}
		for _, word := range words {
			extend(text+word, left-1)
		}
	}
	extend("", 5)
	for c := range 256 { // each byte, within and around a type
		b := string([]byte{byte(c)})
		for _, kind := range []string{b + "application/json", "application/json" + b, "application/" + b + "+json", "application/a" + b + "b+json", "application/json+oembed" + b} {
			checkNamesJSON(t, kind)
		}
	}
}

func FuzzNamesJSON(f *testing.F) {
	for _, kind := range []string{"application/json", "x,application/a+application/json+oembed;", "application/a b+json ,application/+json", strings.Repeat("application/", 9) + "+json"} {
		f.Add(kind)
	}
	f.Fuzz(checkNamesJSON)
}

// BenchmarkIsJSON is what 14 KB of a type cost.
func BenchmarkIsJSON(b *testing.B) {
	for _, unit := range []string{",application/", "application/a+json+", "a ", "A"} {
		kind := strings.Repeat(unit, 14<<10/len(unit))
		b.Run(unit, func(b *testing.B) {
			for b.Loop() {
				IsJSON(kind)
			}
		})
	}
	kind := strings.Repeat(",application/", 14<<10/13)
	b.Run("by the expression", func(b *testing.B) {
		for b.Loop() {
			jsonType.MatchString(kind)
		}
	})
}
