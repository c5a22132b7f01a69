package index

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/between"
)

// patternsOfRoot is what a site's REST root says of its routes.
type patternsOfRoot struct{ Namespaces, Patterns []string }

// coreRoot returns the root of a core without plugins.
func coreRoot(tb testing.TB) (r patternsOfRoot) {
	tb.Helper()
	text, err := os.ReadFile("testdata/core.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Patterns) < 100 {
		tb.Fatalf("%d routes, %v", len(r.Patterns), err)
	}
	return r
}

// oddPatterns are patterns from the edges of the language. PHP's answer is the measure.
var oddPatterns = []string{
	`/o/v1/a+`, `/o/v1/b++`, `/o/v1/c(?=d)d`, `/o/v1/(?<n>x|y)z?`, `/o/v1/[[:alpha:]_-]+`, `/o/v1/[^a-c]{2,3}`, `/o/v1/[\w-]+/x`,
	`/o/v1/[\w-.]+`, `/o/v1/[]a]`, `/o/v1/[^]]x`, `/o/v1/[a-]`, `/o/v1/[-a]+`, `/o/v1/\x41`, `/o/v1/e{2}f`, `/o/v1/g{,2}`, `/o/v1/h{x}`,
	`/o/v1/i@j`, `/o/v1/k\@l`, `/o/v1/m|/o/v1/n`, `/o/v1/(o|p|)q`, `/o/v1/(?:r(?:s(t)?)?)?`, `/o/v1/u.v`, `/o/v1/w*?x`, `/o/v1/(y)\1`, `/o/v1/(?i)z`,
	`/o/v1/\d\D\s\S\w\W`, `/o/v1/[\D]`, `/o/v1/[\h\s]`, `/o/v1/A$`, `/o/v1/(?P<a>x)$`, `/o/v1/B\$`, `/o/v1/B\\$`, `/o/v1/^B`, `/o/v1/(C`, `/o/v1/D)`, `/o/v1/[E`, `/o/v1/F\`, `/o/v1/G**`,
	`/o/v1/(?P<1x>y)`, `/o/v1/(?P<d>a)(?P<d>b)`, `/o/v1/H{0}`, `/o/v1/I{3,2}`, `/o/v1/[z-a]`, `/o/v1/J]`, `/o/v1/K}`, `/o/v1/L-_~!`, `/o/v1/(?#c)M`, `/o/v1/[a-z-9]+`,
	`/o/v1/[\/\w%.\-]+`, `/o/v1/(?P<any>.*)`, `/o/v1/N{1,2}{3}`, `/o/v1/[[:word:]]`, `/o/v1/[[:nope:]]`, `/o/v1/[[.a.]]`, `/o/v1/[@]`, `/o/v1/é+`, `/o/v1/(*ACCEPT)`, `/o/v1/\Qa.b\E`,
	`//o/v1/double`, `/o/v1`, `/o`, `/O/v1/Upper`, `o/v1/x`, `/o/v1/[^\x00-\x20]`,
}

// measured is what PHP said of the routes that somebody might call on one site.
type measured struct {
	patternsOfRoot
	Routes  [][]byte            // base64 in JSON, since a route is bytes
	Matches []int               // the number of the pattern that PHP takes the route for, or -1
	Groups  []map[string][]byte // the named groups of that pattern, those that take nothing left out
}

var update = flag.Bool("update", false, "ask PHP again, and far more of it than testdata/php.json keeps")

// TestIndex_AsThePlatformMatches compares the index with what PHP itself said.
func TestIndex_AsThePlatformMatches(t *testing.T) {
	const file = "testdata/php.json"
	var all []measured
	if *update {
		all = measure(t, 300)
		text, err := json.Marshal(measure(t, 20))
		if err == nil {
			err = os.WriteFile(file, append(text, '\n'), 0o644) //nolint:gosec // a file of the repository
		}
		if err != nil {
			t.Fatal(err)
		}
	} else if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &all) != nil {
		t.Fatal(file, err)
	}
	fits, asked, grouped := 0, 0, 0
	for _, m := range all {
		x := New(m.Patterns, m.Namespaces)
		for i, route := range m.Routes {
			pattern := ""
			if m.Matches[i] >= 0 {
				pattern = m.Patterns[m.Matches[i]]
			}
			fits += agrees(t, x, string(route), pattern)
			grouped += groupsAgree(t, x, string(route), m.Groups[i])
			asked++
		}
	}
	t.Logf("%d of %d routes have a name, and %d groups", fits, asked, grouped)
	if fits < 500 || asked < 3000 || grouped < 100 {
		t.Errorf("only %d of %d routes match anything, and %d have groups", fits, asked, grouped)
	}
}

// measure asks PHP for routes made of each pattern: of a core without plugins, and of odd
// patterns one by one, or an opaque pattern would hide those behind it.
func measure(t *testing.T, each int) (all []measured) {
	t.Helper()
	rand := rand.New(rand.NewPCG(7, 11))
	sets := []patternsOfRoot{coreRoot(t)}
	for _, pattern := range oddPatterns {
		sets = append(sets, patternsOfRoot{[]string{"o/v1", "o", "p/v1"}, []string{pattern}})
	}
	for _, r := range sets {
		m := measured{patternsOfRoot: r}
		for range each * len(r.Patterns) {
			m.Routes = append(m.Routes, []byte(sample(rand, r.Patterns[rand.IntN(len(r.Patterns))])))
		}
		in, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "php", "testdata/match.php")
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &m)
		}
		if err != nil || len(m.Matches) != len(m.Routes) {
			t.Fatalf("%d answers, %v: %.300s", len(m.Matches), err, out)
		}
		all = append(all, m)
	}
	return all
}

// agrees compares the index with PHP and counts a route that both know.
func agrees(t *testing.T, x *Index, route, pattern string) int {
	t.Helper()
	name, ok := x.Pattern(route)
	want := ""
	if pattern != "" {
		want = newEntry(pattern).name
	}
	switch {
	case ok && name != want:
		t.Errorf("%q is %q; PHP takes it for %q", route, name, pattern)
	case !ok && want != "" && printable(route):
		t.Errorf("%q has no name; PHP takes it for %q", route, pattern)
	case ok:
		return 1
	}
	return 0
}

// groupsAgree compares what named groups take with PHP, and counts a route that has some.
func groupsAgree(t *testing.T, x *Index, route string, want map[string][]byte) int {
	t.Helper()
	pattern, ok := x.Dispatch(route)
	if !ok || !between.ASCII(route) {
		return 0
	}
	groups, fits := pattern.Groups(route)
	got := map[string][]byte{}
	for _, g := range groups {
		if g.From < g.To {
			got[g.Name] = []byte(route[g.From:g.To])
		}
	}
	if !fits || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%q has the groups %q; PHP takes %q", route, got, want)
	}
	return min(len(got), 1)
}

// sample makes a route that nearly fits a pattern.
func sample(rand *rand.Rand, pattern string) string {
	route := pattern
	for _, from := range []string{`[\d]+`, `\d+`, `[\w-]+`, `[^/]+`, `(`, `)`, `\`, `?`, `^`, `$`} {
		to := pick(rand, "", "17", "x", "a-b", "/")
		if strings.Contains(from, "+") {
			to = pick(rand, "7", "foo", "a_b-c", "a/b")
		}
		route = strings.ReplaceAll(route, from, to)
	}
	for i := strings.Index(route, "P<"); i >= 0; i = strings.Index(route, "P<") {
		_, rest, _ := strings.Cut(route[i:], ">")
		route = route[:i] + rest
	}
	for range rand.IntN(4) {
		at := rand.IntN(len(route) + 1)
		switch rand.IntN(6) {
		case 0:
			route = route[:at] + pick(rand, "a", "/", "9", "K", "\xc3\xa9", "\u017f", "\u212a", "%20", ".", "-", "_", "b", " ", "\n", "@", "\\") + route[at:]
		case 1:
			route = route[:at]
		case 2:
			route = strings.ToUpper(route[:at]) + route[at:]
		case 3:
			route = route[:at] + route[min(len(route), at+1):]
		case 4:
			route += pick(rand, "/", "\n", "/1", "x")
		default:
			route = strings.TrimSuffix(route, "/")
		}
	}
	return route
}

func pick(rand *rand.Rand, list ...string) string { return list[rand.IntN(len(list))] }
