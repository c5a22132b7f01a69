package main

import (
	"context"
	"time"
)

// latency measures how long calls take while a shop is busy. It is the one step that judges
// times. So it fails only where every one of several runs does.
func (c *check) latency(ctx context.Context) {
	const tries = 3
	caddy, remove, ok := c.builtCaddy(ctx)
	defer remove()
	if !ok {
		return
	}
	start := time.Now()
	out, err := firstGood(tries, func() (string, error) {
		return output(ctx, toolLimit, c.root, "go", "run", "./cmd/check/latency", "--caddy", caddy, "--slice", "1s", "--slices", "2")
	})
	if err == nil {
		c.results.progress("%s", indent(out))
	}
	c.results.verdict("latency", time.Since(start), out, err)
}

// firstGood returns the output of the first run that does not fail, or those of all runs.
func firstGood(tries int, run func() (string, error)) (out string, err error) {
	for range tries {
		var once string
		if once, err = run(); err == nil {
			return once, nil
		}
		out += once
	}
	return out, err
}
