package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fuzz runs the seeds of all fuzz targets, then each target for a short time. A
// target without seeds proves little and is a failure.
func (c *check) fuzz(ctx context.Context) {
	dir, err := os.MkdirTemp("", "restwarden-fuzz-")
	if err != nil {
		c.results.fail("fuzz", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f := fuzzer{check: c, dir: dir}
	packages, err := f.packages(ctx)
	if err != nil {
		c.results.fail("fuzz", err.Error())
		return
	}
	atOnce(packages, func(p *fuzzed) { f.prepare(ctx, p) })
	var targets []target
	for _, p := range packages {
		for _, name := range p.targets {
			targets = append(targets, target{p, name})
		}
	}
	atOnce(targets, func(t target) {
		start := time.Now()
		out, err := f.run(ctx, t)
		f.mu.Lock()
		defer f.mu.Unlock()
		c.results.verdict(t.path+" "+t.name, time.Since(start), out, err)
	})
}

// atOnce does something with each of items, with as many at once as there are processors.
func atOnce[T any](items []T, do func(T)) {
	var group sync.WaitGroup
	next := make(chan T)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for item := range next {
				do(item)
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	group.Wait()
}

// fuzzer runs fuzz targets. It links the tests of a package once, and not for each target
// anew as "go test -fuzz" does.
type fuzzer struct {
	*check
	dir   string // for the programs
	cache string // where the go command keeps inputs that are worth it

	mu sync.Mutex // guards check.results
}

// fuzzed is a package with fuzz targets.
type fuzzed struct {
	path, dir string
	program   string   // its tests
	targets   []string // with seeds that pass
}

// target is one fuzz target of a package.
type target struct {
	*fuzzed
	name string
}

var declaredTarget = regexp.MustCompile(`(?m)^func Fuzz\w*\(`)

// packages returns the packages whose tests declare fuzz targets: to link all tests only to
// ask them would take longer than the targets run.
func (f *fuzzer) packages(ctx context.Context) (found []*fuzzed, err error) {
	out, err := output(ctx, toolLimit, f.root, "go", "env", "GOCACHE")
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	f.cache = filepath.Join(strings.TrimSpace(out), "fuzz")
	files, err := f.testFiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if len(found) > 0 && found[len(found)-1].path == file.pkg {
			continue
		}
		text, err := os.ReadFile(file.path)
		if err != nil {
			return nil, err
		}
		if declaredTarget.Match(text) {
			found = append(found, &fuzzed{path: file.pkg, dir: filepath.Dir(file.path), program: filepath.Join(f.dir, strconv.Itoa(len(found))+".test")})
		}
	}
	return found, nil
}

// prepare links the tests of a package, without what only a debugger needs, and runs the seeds of
// its targets.
func (f *fuzzer) prepare(ctx context.Context, p *fuzzed) {
	out, err := output(ctx, toolLimit, f.root, "go", "test", "-c", "-fuzz=.", "-ldflags=-s -w", "-o", p.program, p.path)
	seeds := results{out: io.Discard} // the step test counts them
	var run *testRun
	if err == nil {
		run = f.runTests(ctx, &seeds, testRunLimit, p.dir, nil, "go", "tool", "test2json", "-p", p.path, p.program, "-test.v=test2json", "-test.run=^Fuzz")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.results.fail(p.path, out+"\n"+err.Error())
		return
	}
	for _, failed := range seeds.failures {
		f.results.fail(failed.name, failed.output)
	}
	var unseeded []string
	p.targets, unseeded = seeded(run.passed)
	for _, name := range unseeded {
		f.results.fail(p.path+" "+name, "the fuzz target has no seeds")
	}
}

// seeded sorts the fuzz targets among tests that have passed by whether one of their seeds is
// there, too.
func seeded(passed []testID) (with, without []string) {
	has := map[string]bool{}
	for _, id := range passed {
		if name, _, isSeed := strings.Cut(id.test, "/"); isSeed {
			has[name] = true
		}
	}
	for _, id := range passed {
		switch {
		case strings.Contains(id.test, "/"):
		case has[id.test]:
			with = append(with, id.test)
		default:
			without = append(without, id.test)
		}
	}
	return with, without
}

// run runs one target, on one processor: others run at the same time.
func (f *fuzzer) run(ctx context.Context, t target) (string, error) {
	if ctx.Err() != nil {
		return "interrupted", ctx.Err()
	}
	return output(ctx, f.fuzzTime.duration+toolLimit, t.dir, t.program, "-test.parallel=1",
		"-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+f.fuzzTime.text, "-test.fuzzcachedir="+filepath.Join(f.cache, t.path))
}

// fuzzTime is how long a target runs, as go test takes it.
type fuzzTime struct {
	text     string
	duration time.Duration // 0 for a number of executions
}

// Set implements flag.Value.
func (f *fuzzTime) Set(text string) (err error) {
	f.text, f.duration = text, 0
	if count, ok := strings.CutSuffix(text, "x"); ok {
		_, err = strconv.ParseUint(count, 10, 32)
		return err
	}
	f.duration, err = time.ParseDuration(text)
	return err
}

// String implements flag.Value.
func (f *fuzzTime) String() string { return f.text }
