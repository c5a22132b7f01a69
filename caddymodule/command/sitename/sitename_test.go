package sitename

import (
	"strings"
	"testing"
)

// TestFits: * stands for any text, nothing and dots too, and all else for itself.
func TestFits(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{
		"a.example|a.example": true, "a.example|b.example": false, "*|a.example/blog": true, "*.example|a.example": true, "*.example|a.example.org": false,
		"shop-*|shop-": true, "shop-*.example|shop-1.eu.example": true, "*a*a*|a": false, "*a*a*|banana": true, "a*b|a": false,
	} {
		pattern, name, _ := strings.Cut(words, "|")
		if got := Fits(pattern, name); got != want {
			t.Errorf("%s: %t", words, got)
		}
	}
}
