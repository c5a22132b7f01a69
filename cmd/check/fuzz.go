package main

import (
	"context"
	"io"
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
	for _, target := range targets {
		if ctx.Err() != nil {
			c.results.fail(target.String(), "interrupted")
			return
		}
		if !seeded[target] {
			c.results.fail(target.String(), "the fuzz target has no seeds")
			continue
		}
		c.fuzzTarget(ctx, target)
	}
}

func (c *check) fuzzTarget(ctx context.Context, target testID) {
	start := time.Now()
	out, err := output(ctx, c.fuzzTime.duration+toolLimit, c.root, "go", "test",
		"-run=^$", "-fuzz=^"+target.test+"$", "-fuzztime="+c.fuzzTime.text, target.pkg)
	c.results.verdict(target.String(), time.Since(start), out, err)
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
