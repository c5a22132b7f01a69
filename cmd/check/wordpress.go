package main

import (
	"context"
	"fmt"
	"time"
)

// wordpressLimit bounds the tests in front of WordPress in a usual run, which takes a
// third of it on two idle cores.
const wordpressLimit = 30 * time.Minute

// wordpress runs the gateway in front of the real platform. Of the benchmarks only the
// answers are judged: speed depends on the machine.
func (c *check) wordpress(ctx context.Context) {
	limit := wordpressLimit + c.nightly
	env := []string{"RESTWARDEN_NIGHTLY=" + c.nightly.String()}
	if c.seed != 0 {
		env = append(env, fmt.Sprintf("RESTWARDEN_SEED=%d", c.seed))
	}
	c.goTestWith(ctx, &c.results, limit, env,
		"-tags="+wordpressTag, "-count=1", "-bench=.", "-benchtime=3x", "-timeout="+limit.String(), "./cmd/check/wordpress")
}

// wordpressTag is the build tag of those tests.
const wordpressTag = "wordpress"
