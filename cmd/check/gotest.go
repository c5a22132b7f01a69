package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// testLimit bounds one package's tests, testRunLimit all of them, both with the nightly
// mode's time on top. testGrace is for the build, and for tests that end by a limit of their
// own.
const (
	testLimit    = 20 * time.Minute
	testRunLimit = 40 * time.Minute
	testGrace    = 2 * time.Minute
)

// builtCaddy builds cmd/caddy once for a step, until remove is called.
func (c *check) builtCaddy(ctx context.Context) (program string, remove func(), ok bool) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "restwarden-caddy-")
	if err == nil {
		program, err = machine.Caddy(ctx, dir)
	}
	c.results.verdict("go build ./cmd/caddy", time.Since(start), "", err)
	return program, func() { _ = os.RemoveAll(dir) }, err == nil // it is in the directory for temporary files
}

func (c *check) test(ctx context.Context) {
	if c.fast {
		c.testFast(ctx)
		return
	}
	caddy, remove, ok := c.builtCaddy(ctx)
	defer remove()
	if !ok {
		return
	}
	env := append(c.nightlyEnv(), machine.CaddyVariable+"="+caddy)
	c.goTestWith(ctx, &c.results, testRunLimit+c.nightly, env, "-race", "-shuffle=on", "-timeout="+(testLimit+c.nightly).String(), "./...")
}

// nightlyEnv tells tests how long they may go on.
func (c *check) nightlyEnv() []string { return []string{"RESTWARDEN_NIGHTLY=" + c.nightly.String()} }

// goTest runs go test with args and counts every test and subtest into r.
func (c *check) goTest(ctx context.Context, r *results, args ...string) *testRun {
	return c.goTestWith(ctx, r, testRunLimit, nil, args...)
}

// goTestWith is goTest with a limit of its own, and with variables in its environment.
func (c *check) goTestWith(ctx context.Context, r *results, limit time.Duration, env []string, args ...string) *testRun {
	return c.runTests(ctx, r, limit, c.root, env, "go", append([]string{"test", "-json"}, args...)...)
}

// runTests runs a command that prints what go test -json does, and counts every test and
// subtest into r.
func (c *check) runTests(ctx context.Context, r *results, limit time.Duration, dir string, env []string, name string, args ...string) *testRun {
	ctx, cancel := context.WithTimeout(ctx, limit+testGrace)
	defer cancel()
	run := newTestRun(r)
	cmd, err := machine.Command(ctx, dir, name, args...)
	if err != nil {
		r.fail("go test", err.Error())
		return run
	}
	cmd.Env = append(os.Environ(), env...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		r.fail("go test", err.Error())
		return run
	}
	cmd.Stderr = &run.stray
	if err := cmd.Start(); err != nil {
		r.fail("go test", err.Error())
		return run
	}
	run.read(stdout)
	run.finish(cmd.Wait())
	return run
}

// event is a line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	FailedBuild string // of a package whose test did not build
	Test        string
	Elapsed     float64
	Output      string
	Key, Value  string // of an attribute
}

// checksKey is the attribute of a test that is many checks: their number.
const checksKey = "checks"

// testRun turns the events of one go test into results.
type testRun struct {
	results *results
	output  map[testID]*strings.Builder
	open    map[testID]bool
	passed  []testID
	failed  map[string]bool // packages with a counted failure
	builds  map[string]*strings.Builder
	counts  map[string]int
	checks  map[testID]int // of tests that tell
	any     bool
	stray   strings.Builder
}

// testID names a test; without a test it is the package.
type testID struct{ pkg, test string }

func (id testID) String() string { return strings.TrimSpace(id.pkg + " " + id.test) }

func newTestRun(r *results) *testRun {
	return &testRun{
		results: r, output: map[testID]*strings.Builder{}, open: map[testID]bool{},
		failed: map[string]bool{}, builds: map[string]*strings.Builder{}, counts: map[string]int{}, checks: map[testID]int{},
	}
}

// read takes events until the stream ends. Lines that are no events are kept
// for the case that go test itself fails.
func (t *testRun) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			t.take(e)
		} else {
			t.stray.Write(line)
		}
		if err != nil {
			return
		}
	}
}

func (t *testRun) take(e event) {
	id := testID{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		builder(t.builds, e.ImportPath).WriteString(e.Output)
	case "output":
		builder(t.output, id).WriteString(e.Output)
	case "run":
		t.open[id] = true
	case "attr":
		if n, err := strconv.Atoi(e.Value); err == nil && e.Key == checksKey {
			t.checks[id] += n
		}
	case "pass", "fail", "skip":
		delete(t.open, id)
		if e.Test == "" {
			t.endPackage(e)
			return
		}
		t.endTest(id, e)
	}
}

func builder[K comparable](m map[K]*strings.Builder, key K) *strings.Builder {
	if m[key] == nil {
		m[key] = new(strings.Builder)
	}
	return m[key]
}

// endTest counts a test: as one, and with its checks, those that passed in a test that
// failed included.
func (t *testRun) endTest(id testID, e event) {
	t.any = true
	t.counts[id.pkg]++
	n, tells := t.checks[id]
	t.results.pass(n)
	t.results.count(id.test, n)
	switch e.Action {
	case "pass":
		t.results.pass(1)
		t.passed = append(t.passed, id)
		if tells {
			t.results.progress("   ok   %s: %d checks (%.1fs)%s", id.test, n, e.Elapsed, notes(builder(t.output, id).String()))
		}
		delete(t.output, id)
	case "fail":
		t.failed[id.pkg] = true
		t.results.fail(id.String(), builder(t.output, id).String())
	case "skip": // what was not tested is not known to work
		t.failed[id.pkg] = true
		t.results.fail(id.String(), "skipped\n"+builder(t.output, id).String())
	}
}

// endBenchmark counts a benchmark that passed: go test tells of the end of one only where
// it failed.
func (t *testRun) endBenchmark(id testID) {
	t.any = true
	t.counts[id.pkg]++
	t.results.pass(1)
	t.passed = append(t.passed, id)
	t.results.progress("   ok   %s%s", id.test, figures(builder(t.output, id).String()))
	delete(t.output, id)
}

// figures are what a benchmark has measured.
func figures(output string) string {
	var b strings.Builder
	for _, m := range measured.FindAllStringSubmatch(output, -1) {
		b.WriteString("\n        " + strings.Join(strings.Fields(m[1]), " "))
	}
	return b.String()
}

var measured = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\t(.+)`)

// notes is what a test has logged, without the lines of go test itself.
func notes(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if m := logged.FindStringSubmatch(line); m != nil {
			b.WriteString("\n        " + strings.TrimSpace(m[1]))
		}
	}
	return b.String()
}

var logged = regexp.MustCompile(`^ +\w+\.go:\d+: (.*)`)

func (t *testRun) endPackage(e event) {
	for _, id := range t.unfinished(e.Package) {
		if e.Action == "pass" && strings.HasPrefix(id.test, "Benchmark") {
			t.endBenchmark(id)
			continue
		}
		t.failed[e.Package] = true
		t.results.fail(id.String(), "did not finish\n"+builder(t.output, id).String())
	}
	switch {
	case e.Action == "fail" && !t.failed[e.Package]:
		t.failed[e.Package] = true
		output := builder(t.builds, e.FailedBuild).String() + builder(t.output, testID{pkg: e.Package}).String()
		t.results.fail(e.Package, output)
	case e.Action == "pass" && !t.failed[e.Package] && t.counts[e.Package] > 0:
		t.results.progress("   ok   %s: %d tests (%.1fs)", e.Package, t.counts[e.Package], e.Elapsed)
	}
}

// unfinished takes the open tests of a package: those that a panic or the time
// limit cut off.
func (t *testRun) unfinished(pkg string) []testID {
	var ids []testID
	for id := range t.open {
		if id.pkg == pkg {
			ids = append(ids, id)
			delete(t.open, id)
		}
	}
	slices.SortFunc(ids, func(a, b testID) int { return strings.Compare(a.test, b.test) })
	return ids
}

// finish judges the run as a whole; err is how go test ended.
func (t *testRun) finish(err error) {
	switch {
	case err != nil && len(t.failed) == 0:
		t.results.fail("go test", fmt.Sprintf("%s\n%v", t.stray.String(), err))
	case !t.any && len(t.failed) == 0:
		t.results.fail("go test", "no test ran\n"+t.stray.String())
	}
}
