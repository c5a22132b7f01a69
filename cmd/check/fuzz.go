package main

import (
	"context"
	"strings"
	"time"
)

// fuzz runs the seeds of all fuzz targets, then each target for a short time. A
// target without seeds proves little and is a failure.
func (c *check) fuzz(ctx context.Context) {
	seeded := map[testID]bool{}
	var targets []testID
	for _, id := range c.goTest(ctx, "-run=^Fuzz", "./...").ran {
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
	out, err := output(ctx, c.fuzzTime+toolLimit, c.root, "go", "test",
		"-run=^$", "-fuzz=^"+target.test+"$", "-fuzztime="+c.fuzzTime.String(), target.pkg)
	c.results.verdict(target.String(), time.Since(start), out, err)
}
