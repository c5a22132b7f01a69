package call

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// TestMemory_Docs: docs/operations.md has the limits of memory for bodies, and no other page has
// them a second time.
func TestMemory_Docs(t *testing.T) {
	t.Parallel()
	docs := os.DirFS("../../docs")
	m := budget.NewMemory(budget.MemoryFor(DefaultBodyLimit))
	times := func(bytes int64) int64 { return bytes / DefaultBodyLimit }
	limit := func(s *budget.Shares) int64 { return 4 * s.Of(budget.Holder{}) } // a site holds a quarter
	all := limit(m.Whole) + limit(m.Answers) + limit(m.Chunks) + limit(m.Parts)
	page, err := fs.ReadFile(docs, "operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for row, end := range map[string]string{
		"| bodies that are read in one piece": fmt.Sprintf(" | %d |", times(limit(m.Whole))),
		"| answers while they are rewritten":  fmt.Sprintf(" | %d |", times(limit(m.Answers))),
		"| the beginnings of other bodies":    fmt.Sprintf(" %d KiB each, of which the first %d KiB do not count. The rest is on disk | %d |", inMemory>>10, chunkSize>>10, times(limit(m.Chunks))),
		"| parts of batches, ":                fmt.Sprintf(" | %d |", times(limit(m.Parts))),
		"| all of it":                         fmt.Sprintf(" | %d, %d MiB by default |", times(all), all>>20),
	} {
		_, rest, found := strings.Cut(string(page), "\n"+row)
		if line, _, _ := strings.Cut(rest, "\n"); !found || !strings.HasSuffix(line, end) {
			t.Errorf("%s…: %q, want %q at its end", row, line, end)
		}
	}
	err = fs.WalkDir(docs, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") || name == "operations.md" {
			return err
		}
		text, err := fs.ReadFile(docs, name)
		if strings.Contains(string(text), "times `body_limit`") {
			t.Errorf("docs/%s says how much memory bodies may take, as docs/operations.md does", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
