package terminal

import (
	"strings"
	"testing"
)

// TestAligned_Bounded: a long name of a site does not make a line of any length.
func TestAligned_Bounded(t *testing.T) {
	for line := range strings.SplitSeq(Aligned("", [][]string{{strings.Repeat("é", 5000), "x"}, {"a", strings.Repeat("b", 5000)}}), "\n") {
		if len([]rune(line)) > 2*longest || len(line) > 0 && !strings.Contains(line, "…") {
			t.Errorf("%d characters", len([]rune(line)))
		}
	}
}
