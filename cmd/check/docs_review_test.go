package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies"
)

const (
	postureBefore   = "| policy | promises | against | does not |\n|---|---|---|---|\n"
	questionsBefore = "| # | question | answer |\n|--:|---|---|\n"
)

// cellsOf returns the rows of the table of a page that begins with a head.
func cellsOf(t *testing.T, page, head string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(documents(t)[page], head)
	if !found {
		t.Fatalf("%s: no table %q", page, head)
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestDocs_ThreatModel: each policy has its line, in the order in which they are asked, and says all three things.
func TestDocs_ThreatModel(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, row := range cellsOf(t, "docs/project/threat-model.md", postureBefore) {
		if len(row) != 4 || slices.Contains(row, "") {
			t.Errorf("%q does not say what it promises, against whom, and what it does not", row)
			continue
		}
		got = append(got, row[0])
	}
	for _, e := range policies.Catalog {
		want = append(want, fmt.Sprintf("[%s](../policies/%[1]s.md)", e.Name))
	}
	if !slices.Equal(got, want) {
		t.Errorf("lines of %q, want %q", got, want)
	}
}

// TestDocs_ReviewQuestions: forty questions, each answered by a heading of a page, by a test of the tree, or said to be open.
// TestDocs_Links follows the links.
func TestDocs_ReviewQuestions(t *testing.T) {
	t.Parallel()
	const page = "docs/project/review-questions.md"
	tests := map[string]bool{}
	for _, names := range sourcesOf(t).tests {
		for _, name := range names {
			tests[name] = true
		}
	}
	rows := cellsOf(t, page, questionsBefore)
	if len(rows) != 40 {
		t.Errorf("%d questions", len(rows))
	}
	open := 0
	for i, row := range rows {
		if len(row) != 3 || row[0] != fmt.Sprint(i+1) || !strings.HasSuffix(row[1], "?") {
			t.Errorf("row %d is %q", i+1, row)
			continue
		}
		named := testOfRow.FindAllStringSubmatch(row[2], -1)
		for _, m := range named {
			if !tests[m[1]] {
				t.Errorf("question %d: there is no %s", i+1, m[1])
			}
		}
		isOpen := strings.Contains(row[2], "**Open.**")
		if isOpen {
			open++
		}
		if len(named) == 0 && !isOpen && !link.MatchString(row[2]) {
			t.Errorf("question %d has neither a page nor a test: %q", i+1, row[2])
		}
	}
	if said := fmt.Sprintf("%d of them are open", open); !strings.Contains(documents(t)[page], said) {
		t.Errorf("%s does not say that %s", page, said)
	}
}

var reviewRow = regexp.MustCompile("(?m)^\\| `(\\w[\\w/]+)/` \\| (\\d+) \\|")

// TestDocs_Review: the page for an hour can be read in ten minutes, and has the lines of the packages that it names. With -update
// it writes those.
func TestDocs_Review(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	const page = "docs/security-review.md"
	text := documents(t)[page]
	if n := len(strings.Fields(text)); n > 1800 {
		t.Errorf("%s has %d words", page, n)
	}
	n := 0
	written := reviewRow.ReplaceAllStringFunc(text, func(row string) string {
		n++
		folder := reviewRow.FindStringSubmatch(row)[1]
		return fmt.Sprintf("| `%s/` | %s |", folder, linesOf(t, filepath.Join(root, folder)))
	})
	switch {
	case n < 5:
		t.Errorf("%s names %d packages", page, n)
	case written == text:
	case *update:
		if err := os.WriteFile(filepath.Join(root, page), []byte(written), 0o600); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s has other lines than the packages: run go test ./cmd/check -run %s -update", page, t.Name())
	}
}

var criterionRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\S+) \\| (.+) \\|$")

// TestDocs_OpenSSF: each criterion of the passing level has one answer and a reason. The list of criteria is that of the badge.
func TestDocs_OpenSSF(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(filepath.Join("testdata", "openssf-passing.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(list))
	var got []string
	for _, m := range criterionRow.FindAllStringSubmatch(documents(t)["docs/project/openssf.md"], -1) {
		got = append(got, m[1])
		if !slices.Contains([]string{"Met", "Maintainer", "N/A"}, m[2]) {
			t.Errorf("%s is %s", m[1], m[2])
		}
	}
	if len(want) != 67 || !slices.Equal(got, want) {
		t.Errorf("answers to %q, want %q", got, want)
	}
}
