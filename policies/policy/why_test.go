package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// TestWhy_Words: each word that stands for a rule on the page of the policy call has a sentence
// of its own, and no other has one.
func TestWhy_Words(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies/call.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(page), "The word in `rule`")
	tables, _, _ = strings.Cut(tables, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(tables, -1) {
		for word := range strings.SplitSeq(m[1], ", ") {
			listed[strings.Trim(word, "`")] = true
		}
	}
	for word := range listed {
		why := Decision{Outcome: Refuse, Policy: "call", Verdict: FromRefusal(call.Ambiguous(word))}.Why()
		if words[word] == "" || why != words[word] || !strings.HasSuffix(why, ".") {
			t.Errorf("%s: %q", word, why)
		}
	}
	for word := range words {
		if !listed[word] {
			t.Errorf("%s is not on the page", word)
		}
	}
}
