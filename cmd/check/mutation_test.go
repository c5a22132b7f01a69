package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/mutation"
)

// TestMutation: a usual run holds the lists against the code, and says what it leaves out.
func TestMutation(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := check{root: root, results: results{out: &out}}
	c.mutation(t.Context())
	if ok := c.results.report(); !ok || !strings.Contains(out.String(), "\nleft out: the mutants of ") {
		t.Error(out.String())
	}
}

// TestJudgeMutants: nine of ten must be noticed, accepted ones count among those that are not, and each other survivor is
// named as the list would have it. What does not compile does not count.
func TestJudgeMutants(t *testing.T) {
	t.Parallel()
	p := mutation.Package{Dir: "policies/x"}
	mutant := func(n int, s mutation.Status) mutation.Mutant {
		return mutation.Mutant{Package: p.Dir, Function: "F", Operator: "X", Text: strings.Repeat("a", n), Place: "x.go:1", Status: s}
	}
	known, other := mutant(1, mutation.Survived), mutant(2, mutation.Survived)
	accepted := mutation.Accepted{known.Name(): "It is known."}
	killed := make([]mutation.Mutant, 8)
	for i := range killed {
		killed[i] = mutant(3, mutation.Killed)
	}
	timedOut, broken := mutant(3, mutation.TimedOut), mutant(3, mutation.NotViable)
	for name, tt := range map[string]struct {
		mutants            []mutation.Mutant
		summary, survivors string
		err                string
	}{
		"nine of ten": {append(slices.Clip(killed), timedOut, known, broken), "10 mutants, 8 killed, 1 timed out, 1 survived (1 accepted), 1 do not compile", "", ""},
		"one is new": {
			append(slices.Clip(killed), timedOut, other), "10 mutants, 8 killed, 1 timed out, 1 survived (0 accepted), 0 do not compile",
			"policies/x F X\n\taa\n\t(x.go:1)", "1 survivors are not in cmd/check/testdata/mutants.txt",
		},
		"too few": {append(slices.Clip(killed), known), "9 mutants, 8 killed, 0 timed out, 1 survived (1 accepted), 0 do not compile", "", "the tests notice 8 of 9 mutants, and not 90 %"},
		"none":    {nil, "0 mutants, 0 killed, 0 timed out, 0 survived (0 accepted), 0 do not compile", "", "the tests notice 0 of 0 mutants, and not 90 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary, survivors, err := judgeMutants(p, tt.mutants, accepted)
			if summary != "policies/x: "+tt.summary || survivors != tt.survivors || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("%q, %q, %v", summary, survivors, err)
			}
		})
	}
}
