package typo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/typo"
)

// TestCheck_Many: of many words an error names the nearest few, and says how many there are.
func TestCheck_Many(t *testing.T) {
	var names []string
	for i := range 304 {
		names = append(names, fmt.Sprintf("shop-%d.example.com", i))
	}
	for word, want := range map[string]string{
		"shop-77.exmple.com": "did you mean shop-77.example.com?", "blog.example.org": "and 299 more", "shop": "or one of 299 more like these?",
	} {
		err := typo.Check(word, names...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "shop-") > 12 {
			t.Errorf("%s: %v", word, err)
		}
	}
}
