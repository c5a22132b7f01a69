package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSeeded: a target without seeds is told from one with seeds; a seed is no target.
func TestSeeded(t *testing.T) {
	t.Parallel()
	with, without := seeded([]testID{{"p", "FuzzA/seed#0"}, {"p", "FuzzA"}, {"p", "FuzzB"}, {"p", "FuzzC/given"}, {"p", "FuzzC"}})
	if !slices.Equal(with, []string{"FuzzA", "FuzzC"}) || !slices.Equal(without, []string{"FuzzB"}) {
		t.Errorf("with seeds %q, without %q", with, without)
	}
}

// TestAtOnce: each item has its turn, once.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	var turns [100]atomic.Int32
	items := make([]int, len(turns))
	for i := range items {
		items[i] = i
	}
	atOnce(items, func(i int) { turns[i].Add(1) })
	for i := range turns {
		if n := turns[i].Load(); n != 1 {
			t.Errorf("%d had %d turns", i, n)
		}
	}
}

// TestFuzzer_Packages: those whose tests declare a target, as a search for text finds them, each
// once.
func TestFuzzer_Packages(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	f := fuzzer{check: &check{root: root}, dir: t.TempDir()}
	found, err := f.packages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, p := range found {
		got = append(got, p.dir)
	}
	text, err := exec.CommandContext(t.Context(), "grep", "-rlE", "--include=*_test.go", `^func Fuzz\w*\(`, root).Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(text)) {
		want = append(want, filepath.Dir(file))
	}
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFuzz: seeds and targets of a package run, the failures of both are told, and new inputs
// that fail are written beside the tests.
func TestFuzz(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc FuzzGood(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(*testing.T, int) {})\n}\n\n" +
			"func FuzzBare(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\n\n" +
			"func FuzzBad(f *testing.F) {\n\tf.Add(0)\n\tf.Fuzz(func(t *testing.T, n int) {\n\t\tif n != 0 {\n\t\t\tt.Error(\"not nothing\")\n\t\t}\n\t})\n}\n",
		"b_test.go": "package m\n\nimport \"testing\"\n\nfunc FuzzSeed(f *testing.F) {\n\tf.Add(3)\n\tf.Fuzz(func(t *testing.T, n int) { t.Error(\"of a seed\") })\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := check{root: root, fuzzTime: fuzzTime{text: "1000x"}, results: results{out: io.Discard}}
	c.fuzz(t.Context())
	told := map[string]string{}
	for _, f := range c.results.failures {
		told[f.name] = f.output
	}
	for name, part := range map[string]string{
		"example.com/m FuzzBare": "no seeds", "example.com/m FuzzBad": "not nothing", "example.com/m FuzzSeed": "", "example.com/m FuzzSeed/seed#0": "of a seed",
	} {
		if output, ok := told[name]; !ok || !strings.Contains(output, part) {
			t.Errorf("%s: %q", name, output)
		}
	}
	if c.results.passed != 1 || len(told) != 4 {
		t.Errorf("%d passed, %q", c.results.passed, told)
	}
	if kept, _ := filepath.Glob(filepath.Join(root, "testdata/fuzz/FuzzBad/*")); len(kept) != 1 {
		t.Errorf("%q are kept", kept)
	}
}
