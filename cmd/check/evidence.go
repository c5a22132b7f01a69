package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// figure is a row of README's table of evidence: what one run of the check has done at least.
type figure struct {
	what    string
	command string
	step    string // whose checks are counted
	test    string // only those of this test and its sub-tests; all of the step where empty
	tests   bool   // the sub-tests are counted, in place of what they have checked
}

// evidence are the rows in their order.
var evidence = []figure{
	{
		"recorded outcomes of hostile and honest requests to WordPress, behind Caddy with PHP-FPM, Apache and nginx: each request is read again, and none is taken for another call than it was",
		"go test ./policies/call -run Conformance", "test", "TestConformance", false,
	},
	{
		"queries, forms and multipart bodies that PHP itself was given: the gateway reads the same variables, or refuses",
		"go run ./cmd/check --run php", "php", "", false,
	},
	{
		"generated attacks on closed routes, through nginx, Apache, lighttpd, HAProxy, Varnish and Caddy, over HTTP/1.1, 2 and 3: WordPress ran none of them",
		"go test -tags wordpress ./cmd/check/wordpress -run Attack", "wordpress", "TestAttack/grammar/targets", false,
	},
	{
		"spellings of a closed call that WordPress runs: none gets past the gateway. Of a third of them [hand-written blocks of nginx and Caddy](docs/commands/bypass.md) know nothing",
		"go test -tags wordpress ./cmd/check/wordpress -run Bypass", "wordpress", "TestBypass/RestWarden", false,
	},
	{
		"tries to reach a subscription by a route for orders: no record changed",
		"go test -tags wordpress ./cmd/check/wordpress -run Conversions", "wordpress", "TestConversions", false,
	},
	{
		"calls decided in a dry run, as `test`, `diff` and `explain` do, and live: the same verdict",
		"go test ./caddymodule/drytest -run DryRun_Agrees", "measure", "TestDryRun_Agrees", false,
	},
	{
		"plugins, each turned on alone by its line `allow plugin`: what it needs is open in front of WordPress, and its other routes are not",
		"go test -tags wordpress ./cmd/check/wordpress -run Catalogue", "wordpress", "TestCatalogue/each", true,
	},
}

// evidenceRow is the row of a figure, with the least that it may be.
func (f figure) row(least int) string {
	return fmt.Sprintf("| %s | %s | `%s` |\n", humanize.Comma(int64(least)), f.what, f.command)
}

// said returns what README says of a figure.
func (f figure) said(readme string) (int, error) {
	row := regexp.MustCompile(`(?m)^\| ([\d,]+) \| ` + regexp.QuoteMeta(f.what) + " \\| `" + regexp.QuoteMeta(f.command) + "` \\|$")
	m := row.FindStringSubmatch(readme)
	if m == nil {
		return 0, fmt.Errorf("README.md has no row of evidence for %s", f.command)
	}
	return strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
}

// holdEvidence holds README's figures against what this run has counted, of the steps that ran;
// with --evidence it writes them.
func (c *check) holdEvidence(context.Context) {
	path := filepath.Join(c.root, "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		c.results.fail("README.md", err.Error())
		return
	}
	readme := string(text)
	for _, f := range evidence {
		if !c.results.ran(f.step) {
			c.results.leave("the figure of " + f.command)
			continue
		}
		counted := c.results.counted(f)
		said, err := f.said(readme)
		switch {
		case err != nil:
		case c.writeEvidence:
			readme = strings.Replace(readme, f.row(said), f.row(twoDigits(counted)), 1)
		case counted < said:
			err = fmt.Errorf("this run has counted %d, README.md says %d: if that is as it should be, run the check with --evidence", counted, said)
		}
		c.results.verdict(fmt.Sprintf("%s: %d", f.command, counted), 0, "", err)
	}
	if c.writeEvidence {
		if err := os.WriteFile(path, []byte(readme), 0o644); err != nil { //nolint:gosec // everybody may read it
			c.results.fail("README.md", err.Error())
		}
	}
}

// twoDigits rounds down to two digits: a count that generated inputs vary a little stays true.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}
