package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/interface-coverage.md anew")

// TestDocument_Coverage compares docs/interface-coverage.md with the rows.
func TestDocument_Coverage(t *testing.T) {
	const path = "../../docs/interface-coverage.md"
	text := coverage()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != text {
		t.Errorf("%s is not what the rows say; run go test ./cmd/caddy -run Document_Coverage -update", path)
	}
	sections := map[string]bool{}
	for _, r := range rows() {
		sections[r.of] = true
	}
	for n := range 14 {
		if of := fmt.Sprintf("4 E%d", n+1); !sections[of] {
			t.Errorf("no row for %s", of)
		}
	}
	for _, of := range outOfReach {
		if sections[of[0]] && !strings.Contains(of[0], "part") {
			t.Errorf("%s is both covered and out of reach", of[0])
		}
	}
}

// coverage returns the page about the rows.
func coverage() string {
	var b strings.Builder
	b.WriteString(coverageHead)
	b.WriteString("| row | what interface.md says | defaults | `login_only` |\n|---|---|---|---|\n")
	all := rows()
	slices.SortStableFunc(all, func(a, b row) int { return strings.Compare(a.of[:1], b.of[:1]) })
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.of, r.says, byRelease(r.defaults), byRelease(r.closed))
	}
	b.WriteString("\n## Out of reach\n\nNo REST request shows these rows:\n\n| row | what | why |\n|---|---|---|\n")
	for _, o := range outOfReach {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o[0], o[1], o[2])
	}
	return b.String()
}

// byRelease writes verdicts, by release if they differ.
func byRelease(of func(string) verdict) string {
	first := of(releases[0])
	var parts []string
	for _, release := range releases {
		if v := of(release); v != first || len(parts) > 0 {
			parts = append(parts, release+": "+v)
		}
	}
	if parts == nil {
		return first
	}
	return first + "; " + strings.Join(parts, ", ")
}
