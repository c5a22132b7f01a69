package main

import (
	"context"

	"github.com/restwarden/restwarden/cmd/check/wordpress"
)

// wordpress runs the gateway in front of the real platform; the step reports to
// the results itself.
func (c *check) wordpress(ctx context.Context) {
	wordpress.Run(ctx, &wordpress.Report{
		Root: c.root, Seed: c.seed, For: c.nightly, Progress: c.results.progress, Pass: c.results.pass, Fail: c.results.fail,
	})
}
