package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEvidence: README has a row for each figure, and no other.
func TestEvidence(t *testing.T) {
	t.Parallel()
	readme := documents(t)["README.md"]
	_, table, found := strings.Cut(readme, "| in each run | what | command |\n|--:|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n") + 1; !found || rows != len(evidence) {
		t.Errorf("README has %d rows of evidence, want %d", rows, len(evidence))
	}
	for _, f := range evidence {
		if said, err := f.said(readme); err != nil || said == 0 {
			t.Errorf("%s: %d, %v", f.command, said, err)
		}
	}
}

// TestEvidence_Cost: README's sentence has the figures of the page on costs.
func TestEvidence_Cost(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	for row, said := range map[string]string{
		"page": "A page takes %s µs", "anonymous call": "an anonymous call %s µs", "identified": "a call of a known user %s µs", "order update": "an update of a known order %s µs",
	} {
		m := regexp.MustCompile(`(?m)^\| ` + row + ` \| ([\d.]+) \(`).FindStringSubmatch(pages["docs/guides/cost.md"])
		if m == nil {
			t.Errorf("the page has no row %s", row)
			continue
		}
		if want := fmt.Sprintf(said, m[1]); !strings.Contains(strings.Join(strings.Fields(pages["README.md"]), " "), want) {
			t.Errorf("README does not say: %s", want)
		}
	}
}

// TestEvidence_Bypass: README says what gets past hand-written blocks as the page does.
func TestEvidence_Bypass(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	m := regexp.MustCompile(`(?m)^\| all \| \d+ \| (\d+) \| (\d+) \| (\d+) \| 0 \|$`).FindStringSubmatch(pages["docs/commands/bypass.md"])
	if m == nil {
		t.Fatal("docs/commands/bypass.md has no sum")
	}
	for _, want := range []string{"Of " + m[1] + " spellings", "miss " + m[2] + " and " + m[3] + "."} {
		if !strings.Contains(pages["README.md"], want) {
			t.Errorf("README does not say: %s", want)
		}
	}
}

// TestEvidence_SubTests: of a figure of tests each sub-test counts once, and the test itself does not.
func TestEvidence_SubTests(t *testing.T) {
	t.Parallel()
	r := results{step: "s", out: io.Discard}
	for _, test := range []string{"TestA/each/one", "TestA/each/two", "TestA/each", "TestA/eachOther"} {
		r.count(test, 7)
	}
	if n := r.counted(figure{step: "s", test: "TestA/each", tests: true}); n != 2 {
		t.Errorf("counted %d, want 2", n)
	}
}

// TestEvidence_Held: a run that has counted less than README says fails, one that counts more
// passes, and with --evidence README has the new figures.
func TestEvidence_Held(t *testing.T) {
	t.Parallel()
	f := evidence[0]
	for name, tt := range map[string]struct {
		counted, said int
		write         bool
		failed, then  int
	}{
		"fewer":   {119, 120, false, 1, 120},
		"as many": {120, 120, false, 0, 120},
		"more":    {250, 120, false, 0, 120},
		"written": {12_345, 99_000, true, 0, 12_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, out := t.TempDir(), new(bytes.Buffer)
			path := filepath.Join(root, "README.md")
			if err := os.WriteFile(path, []byte("text\n\n"+f.row(tt.said)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := &check{root: root, writeEvidence: tt.write, results: results{out: out}}
			c.results.begin(step{name: f.step})
			c.results.count(f.test+"/one", tt.counted-1)
			c.results.count(f.test, 1)
			c.results.count(f.test+"Other", 1000)
			c.results.end(0)
			c.holdEvidence(t.Context())
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if failed := len(c.results.failures); failed != tt.failed || !strings.Contains(string(text), f.row(tt.then)) {
				t.Errorf("%d failures, README:\n%s\n%s", failed, text, out)
			}
			if len(c.results.left) == 0 {
				t.Error("nothing says which figures were left out")
			}
		})
	}
}
