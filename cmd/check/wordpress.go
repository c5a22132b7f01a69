package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// wordpressLimit bounds the tests in front of WordPress in a usual run, which takes a
// third of it on two idle cores, and frankenLimit what FrankenPHP adds.
const (
	wordpressLimit = 30 * time.Minute
	frankenLimit   = 20 * time.Minute
)

// wordpress runs the gateway in front of the real platform. Of the benchmarks only the
// answers are judged: speed depends on the machine.
func (c *check) wordpress(ctx context.Context) {
	limit, tags := wordpressLimit+c.nightly, wordpressTag
	if os.Getenv(frankenVariable) != "" {
		limit, tags = limit+frankenLimit, tags+","+frankenTag
	} else {
		c.results.progress("   FrankenPHP is not tried: %s names no Caddy that has it", frankenVariable)
	}
	env := c.nightlyEnv()
	if c.seed != 0 {
		env = append(env, fmt.Sprintf("RESTWARDEN_SEED=%d", c.seed))
	}
	c.goTestWith(ctx, &c.results, limit, env,
		"-tags="+tags, "-count=1", "-bench=.", "-benchtime=3x", "-timeout="+limit.String(), "./cmd/check/wordpress")
}

// The build tag of those tests, and of those that need FrankenPHP as well: a Caddy with it,
// which the variable names.
const (
	wordpressTag    = "wordpress"
	frankenTag      = "frankenphp"
	frankenVariable = "RESTWARDEN_FRANKENPHP"
)
