package main

import (
	"context"
	"time"
)

// clientsLimit bounds the tests with the shop's client library, which take half a minute on two
// cores, a third of it for its installation. A bare machine also installs Node.js.
const clientsLimit = 10 * time.Minute

// clientsTag is the build tag of those tests.
const clientsTag = "clients"

// clients runs the gateway before the shop's client library.
func (c *check) clients(ctx context.Context) {
	c.goTestWith(ctx, &c.results, clientsLimit, nil,
		"-tags="+clientsTag, "-count=1", "-timeout="+clientsLimit.String(), "./cmd/check/clients")
}
