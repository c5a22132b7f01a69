package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fence            = regexp.MustCompile("(?m)^```(caddyfile.*)$")
	frankenDirective = regexp.MustCompile(`(?m)^\s*(?:php_server|php|frankenphp)(?:\s|$)`)
)

// frankenPage is where the Caddyfiles that need FrankenPHP stand.
const frankenPage = "docs/guides/rewrites.md"

// TestDocs_FrankenPHP: no Caddyfile is passed over by the tests that run them. Those
// that need FrankenPHP are marked, and stand where a test of the tag frankenphp runs all of them.
func TestDocs_FrankenPHP(t *testing.T) {
	t.Parallel()
	marked := 0
	for path, text := range documents(t) {
		for block := range strings.SplitSeq(text, "\n```\n") {
			opening := fence.FindStringSubmatchIndex(block)
			if opening == nil {
				continue
			}
			info, body := block[opening[2]:opening[3]], block[opening[1]:]
			needs := frankenDirective.MatchString(body)
			switch {
			case info != "caddyfile" && info != "caddyfile frankenphp":
				t.Errorf("%s: no test knows a block %q", path, info)
			case needs != (info == "caddyfile frankenphp"):
				t.Errorf("%s: the block %q needs FrankenPHP: %t\n%s", path, info, needs, body)
			case needs && path != frankenPage:
				t.Errorf("%s: no test runs this block, those of %s are run\n%s", path, frankenPage, body)
			case needs:
				marked++
			}
		}
	}
	source, err := os.ReadFile(filepath.Join("wordpress", "frankenphp_docs_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "var frankenExamples = ")
	list, _, _ = strings.Cut(list, "\n}")
	if known := strings.Count(list, `":`); marked == 0 || marked != known {
		t.Errorf("%d blocks, %d are run", marked, known)
	}
}
