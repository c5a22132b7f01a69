package main

import (
	"context"
	"time"
)

// agentsLimit bounds the tests with the clients of agents, which take half a minute on two
// cores, a third of it for their installation. A bare machine also installs Node.js.
const agentsLimit = 10 * time.Minute

// agentsTag is the build tag of those tests.
const agentsTag = "agents"

// agents runs the gateway behind the clients that agents use.
func (c *check) agents(ctx context.Context) {
	c.goTestWith(ctx, &c.results, agentsLimit, nil,
		"-tags="+agentsTag, "-count=1", "-timeout="+agentsLimit.String(), "./cmd/check/agents")
}
