package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/policy"
)

var update = flag.Bool("update", false, "write the lists of policies in the docs")

// policyPage is what the lists of policies take from the page of one.
type policyPage struct {
	entry    policy.Entry
	summary  string
	synopsis string // lines of the directive; empty where the policy has none of its own
	refusals []refusalRow
}

type refusalRow struct{ status, code string }

var (
	pageHead = regexp.MustCompile("^# \\w+\n\n([A-Z].*\\.)\n\n(?:```text\n((?:.+\n)+)```\n\n)?## Purpose\n")
	codeRow  = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\d{3}) \\|")
	// shopCode is a code that begins with the platform's prefix.
	shopCode = regexp.MustCompile(`^woocommerce_rest_`)
)

func readPolicyPage(e policy.Entry, text string) (policyPage, error) {
	m := pageHead.FindStringSubmatch(text)
	if m == nil {
		return policyPage{}, errors.New("between title and Purpose stand one sentence and, in a text block, its lines of the directive")
	}
	p := policyPage{entry: e, summary: m[1], synopsis: m[2]}
	_, section, _ := strings.Cut(text, "\n## Refusals\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range codeRow.FindAllStringSubmatch(section, -1) {
		p.refusals = append(p.refusals, refusalRow{row[2], shopCode.ReplaceAllString(row[1], "…")})
	}
	return p, nil
}

// policyLists are the lists of policies that the docs have beside the pages: what
// stands around a list on its page, and the list.
var policyLists = []struct {
	page, before, after string
	list                func([]policyPage) string
}{
	{"docs/README.md", "| policy | on by default | what |\n|---|---|---|\n", "\n\n", tableOfPolicies},
	{"docs/directive.md", "batch_limit <n>\n\n", "\n\n\t<policy> off\n", synopses},
	{"docs/operations.md", "| status | code | see |\n|---|---|---|\n", "\n\n", tableOfRefusals},
}

func tableOfPolicies(pages []policyPage) string {
	var rows []string
	for _, p := range pages {
		byDefault := "when configured"
		if p.entry.Default {
			byDefault = "yes"
		}
		rows = append(rows, fmt.Sprintf("| [%s](policies/%[1]s.md) | %s | %s |", p.entry.Name, byDefault, p.summary))
	}
	return strings.Join(rows, "\n")
}

func synopses(pages []policyPage) string {
	var lines []string
	for _, p := range pages {
		for line := range strings.Lines(p.synopsis) {
			lines = append(lines, "\t"+strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// tableOfRefusals is ordered by status; policies with one code stand together.
func tableOfRefusals(pages []policyPage) string {
	var rows []refusalRow
	of := map[refusalRow][]string{}
	for _, p := range pages {
		for _, r := range p.refusals {
			if of[r] == nil {
				rows = append(rows, r)
			}
			if !slices.Contains(of[r], p.entry.Name) {
				of[r] = append(of[r], p.entry.Name)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b refusalRow) int { return strings.Compare(a.status, b.status) })
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("| %s | `%s` | %s |", r.status, r.code, strings.Join(of[r], ", ")))
	}
	return strings.Join(lines, "\n")
}

// TestDocs_PolicyLists holds every list of policies against the catalog and the pages;
// with -update it writes them.
func TestDocs_PolicyLists(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	documents := documents(t)
	var pages []policyPage
	for _, e := range policies.Catalog {
		p, err := readPolicyPage(e, documents["docs/policies/"+e.Name+".md"])
		if err != nil {
			t.Fatalf("docs/policies/%s.md: %v", e.Name, err)
		}
		pages = append(pages, p)
	}
	for _, l := range policyLists {
		head, rest, found := strings.Cut(documents[l.page], l.before)
		got, tail, closed := strings.Cut(rest, l.after)
		want := l.list(pages)
		switch {
		case !found || !closed:
			t.Errorf("%s: the list of policies is not where it should be", l.page)
		case got == want:
		case *update:
			text := head + l.before + want + l.after + tail
			if err := os.WriteFile(filepath.Join(root, l.page), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is not what the catalog and the pages say (run go test ./cmd/check -run Docs_PolicyLists -update):\n%s\nwant:\n%s", l.page, got, want)
		}
	}
}
