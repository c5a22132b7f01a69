package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	kernelRow  = regexp.MustCompile("(?m)^\\| `(policies/[\\w/]+)/` \\| ([\\d,]+) \\| (.+?) \\| (.+?) \\|$")
	testOfRow  = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	testInFile = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocs_Kernel holds the table of what decides in docs/security-model.md: the frame of the policies and all of
// the project that it imports, with their lines (with -update it writes those), and tests that are there.
func TestDocs_Kernel(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for dep := range strings.FieldsSeq(goOutput(t, "list", "-deps", "./policies/policy")) {
		if folder, own := strings.CutPrefix(dep, "github.com/restwarden/restwarden/"); own {
			missing[folder] = true
		}
	}
	const page = "docs/security-model.md"
	text := documents(t)[page]
	var tests []string
	for _, folder := range []string{"policies", "policies/*", "policies/call/*"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, files...)
	}
	known := testsIn(t, tests)
	written := kernelRow.ReplaceAllStringFunc(text, func(row string) string {
		m := kernelRow.FindStringSubmatch(row)
		if !missing[m[1]] {
			t.Errorf("%s does not decide, or stands twice", m[1])
		}
		delete(missing, m[1])
		held := testOfRow.FindAllStringSubmatch(m[4], -1)
		if len(held) == 0 {
			t.Errorf("%s: no test holds what must hold", m[1])
		}
		for _, test := range held {
			if !known[test[1]] {
				t.Errorf("%s: there is no %s", m[1], test[1])
			}
		}
		return fmt.Sprintf("| `%s/` | %s | %s | %s |", m[1], linesOf(t, filepath.Join(root, m[1])), m[3], m[4])
	})
	for folder := range missing {
		t.Errorf("%s decides, and %s does not name it", folder, page)
	}
	switch {
	case written == text:
	case *update:
		if err := os.WriteFile(filepath.Join(root, page), []byte(written), 0o600); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s has other lines than the packages: run go test ./cmd/check -run %s -update", page, t.Name())
	}
}

func testsIn(t *testing.T, files []string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testInFile.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
	}
	return found
}

// linesOf counts the lines of code of a package, without comments, blank lines and tests, to the nearest hundred.
func linesOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
	}
	return strconv.Itoa((n + 50) / 100 * 100)
}
