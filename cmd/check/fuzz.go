package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fuzz runs the seeds of all fuzz targets, then each target for a short time. A
// target without seeds proves little and is a failure.
func (c *check) fuzz(ctx context.Context) {
	seeds := results{out: io.Discard} // the step test counts them
	run := c.goTest(ctx, &seeds, "-run=^Fuzz", "./...")
	for _, f := range seeds.failures {
		c.results.fail(f.name, f.output)
	}
	seeded := map[testID]bool{}
	var targets []testID
	for _, id := range run.passed {
		target, _, isSeed := strings.Cut(id.test, "/")
		if isSeed {
			seeded[testID{id.pkg, target}] = true
		} else {
			targets = append(targets, id)
		}
	}
	dir, err := os.MkdirTemp("", "restwarden-fuzz-")
	if err != nil {
		c.results.fail("fuzz", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f := fuzzer{check: c, dir: dir}
	slices.SortStableFunc(targets, func(a, b testID) int { return strings.Compare(a.pkg, b.pkg) })
	for _, target := range targets {
		if ctx.Err() != nil {
			c.results.fail(target.String(), "interrupted")
			return
		}
		if !seeded[target] {
			c.results.fail(target.String(), "the fuzz target has no seeds")
			continue
		}
		start := time.Now()
		out, err := f.run(ctx, target)
		c.results.verdict(target.String(), time.Since(start), out, err)
	}
}

// fuzzer runs fuzz targets. It links the tests of a package once, and not for each target
// anew as "go test -fuzz" does.
type fuzzer struct {
	*check
	dir           string // for the binary
	pkg           string // whose tests are linked
	source, cache string // its directory, and where the go command keeps inputs that are worth it
}

func (f *fuzzer) run(ctx context.Context, target testID) (string, error) {
	binary := filepath.Join(f.dir, "fuzz.test")
	if f.pkg != target.pkg {
		f.pkg = ""
		source, err := output(ctx, toolLimit, f.root, "go", "list", "-f", "{{.Dir}}", target.pkg)
		if err != nil {
			return source, err
		}
		cache, err := output(ctx, toolLimit, f.root, "go", "env", "GOCACHE")
		if err != nil {
			return cache, err
		}
		if out, err := output(ctx, toolLimit, f.root, "go", "test", "-c", "-fuzz=.", "-o", binary, target.pkg); err != nil {
			return out, err
		}
		f.pkg, f.source = target.pkg, strings.TrimSpace(source)
		f.cache = filepath.Join(strings.TrimSpace(cache), "fuzz", target.pkg)
	}
	return output(ctx, f.fuzzTime.duration+toolLimit, f.source, binary,
		"-test.run=^$", "-test.fuzz=^"+target.test+"$", "-test.fuzztime="+f.fuzzTime.text, "-test.fuzzcachedir="+f.cache)
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
