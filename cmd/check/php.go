package main

import (
	"context"

	"github.com/restwarden/restwarden/cmd/check/php"
)

// phpInputs is how many inputs each release of PHP gets in a usual run.
const phpInputs = 60_000

// php asks PHP itself; the step reports to the results itself.
func (c *check) php(ctx context.Context) {
	php.Run(ctx, php.Options{Seed: c.seed, Inputs: phpInputs, For: c.nightly}, &php.Report{
		Progress: c.results.progress, Fail: c.results.fail,
		Pass: func(n int) {
			c.results.pass(n)
			c.results.count("", n)
		},
	})
}
