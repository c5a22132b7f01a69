package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write cmd/caddy/testdata/coverage.md anew")

const coverageHead = `# Coverage of the interface

docs/project/interface.md, statement by statement. Each row is a request that the tests send to the bare reference platform
and through the gateway, for the releases 10.7, 10.8 and 11.1 and under both sets of names (` + "`go test ./cmd/caddy -run TestDocument`" + `,
which also keeps this page as it is). A statement that is neither here nor [out of reach](#out-of-reach) fails that test, and so does a
code or a message of interface.md that no row expects.

An answer is its status, and for an error the code and the message of the error object, whose ` + "`data.status`" + ` is the same number. The
tests compare all of it. "page" is an error that is no JSON. Codes have the neutral names; where the other names have other
words, the tests know them (docs/platform).

What the gateway makes of a row, with its defaults and with ` + "`login_only`" + `:

- **same**: forwarded, and answered byte for byte as the bare platform answers (addresses and random keys aside)
- **words**: refused by the gateway in the words of the bare platform
- **redacted**: forwarded, the stored secrets of the answer hidden; the option redact off ends that
- **refused:** and a name, in bold: refused by design, although the bare platform allows it. The name stands in the table below
- refused: and a name, or an answer: refused by both, by the gateway in these words

What the gateway refuses has not reached the platform, and no record has changed.

## Refused by design

No honest call is refused for another reason than these, and nobody with good credentials for lack of a login; a test sees to that.

| name | answer of the gateway | why | what opens it |
|---|---|---|---|
`

const documentPath, coveragePath = "../../docs/project/interface.md", "testdata/coverage.md"

func interfaceText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocument_Coverage compares cmd/caddy/testdata/coverage.md with the rows, and the rows
// with docs/project/interface.md.
func TestDocument_Coverage(t *testing.T) {
	document := interfaceText(t)
	text := coverage(document)
	if *update {
		if err := os.WriteFile(coveragePath, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(coveragePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != text {
		t.Errorf("%s is not what the rows say; run go test ./cmd/caddy -run Document_Coverage -update", coveragePath)
	}
	for _, gap := range gaps(document, rows(), outOfReach) {
		t.Error(gap)
	}
	for section, sum := range fingerprints(document) {
		if reviewed[section] != sum {
			t.Errorf("section %s of %s is not the one that the rows were written for: see that each sentence has its row, then write %q: %q into reviewed", section, documentPath, section, sum)
		}
	}
}

// coverage returns the page about the rows.
func coverage(document string) string {
	var b strings.Builder
	b.WriteString(coverageHead)
	for _, r := range refusals {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, r.answer, r.why, r.opened)
	}
	titles := regexp.MustCompile(`(?m)^## (\d)\. (.*)$`).FindAllStringSubmatch(document, -1)
	titles = append([][]string{{"", "names", "Naming convention"}}, titles...)
	for _, title := range titles {
		table(&b, "\n## "+strings.TrimPrefix(title[1]+". "+title[2], "names. "), "defaults | `login_only`", func(r *row) (string, bool) {
			return gateCell(r, r.defaults) + " | " + gateCell(r, r.closed), r.with == "" && strings.HasPrefix(r.of, title[1])
		})
	}
	for _, c := range configurations {
		heading := "\n## With lines of your own: " + c.name + "\n\n```text\n" + c.lines + "\n```"
		table(&b, heading, "the gateway", func(r *row) (string, bool) { return gateCell(r, r.defaults), r.with == c.name })
	}
	b.WriteString("\n## Out of reach\n\nNo REST request through the gateway shows these statements, or the part of them that is named:\n\n| statement | what | why |\n|---|---|---|\n")
	for _, o := range outOfReach {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o.of, o.what, o.why)
	}
	return b.String()
}

// table writes the rows for which cells returns true, if there are any.
func table(b *strings.Builder, heading, columns string, cells func(*row) (string, bool)) {
	head := fmt.Sprintf("%s\n\n| statement | what the request shows | bare platform | %s |\n|---|---|---|%s\n", heading, columns, strings.Repeat("---|", 1+strings.Count(columns, "|")))
	for _, r := range rows() {
		cells, its := cells(&r)
		if !its {
			continue
		}
		fmt.Fprintf(b, "%s| %s | %s | %s | %s |\n", head, r.of, r.says, byRelease(r.bare), cells)
		head = ""
	}
}

// gateCell writes what the gateway makes of a row.
func gateCell(r *row, verdict func(string) verdict) string {
	return byRelease(func(release string) string {
		v := verdict(release)
		_, reason := refusalOf(v)
		switch {
		case byDesign(r.bare(release), v):
			return "**refused: " + v + "**"
		case reason:
			return "refused: " + v
		}
		return v
	})
}

// byRelease writes what holds for each release, once if it is the same for all.
func byRelease(of func(string) string) string {
	var parts []string
	for i, release := range releases {
		switch v := of(release); {
		case i == 0:
			parts = append(parts, v)
		case v != of(releases[i-1]):
			parts = append(parts, "from "+release+": "+v)
		}
	}
	return strings.Join(parts, "; ")
}
