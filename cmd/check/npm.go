package main

import (
	"context"
	"time"
)

// The build tags of the tests with packages from npm.
const (
	agentsTag  = "agents"
	clientsTag = "clients"
	grafanaTag = "grafana"
)

// npmLimit bounds the tests of one tag, which take half a minute on two cores, a third of it for
// the installation. A bare machine also installs Node.js.
const npmLimit = 10 * time.Minute

// agents runs the gateway behind the clients that agents use.
func (c *check) agents(ctx context.Context) { c.withNPM(ctx, agentsTag) }

// clients runs the gateway before the shop's client library.
func (c *check) clients(ctx context.Context) { c.withNPM(ctx, clientsTag) }

// grafana holds the dashboard against Grafana's types.
func (c *check) grafana(ctx context.Context) { c.withNPM(ctx, grafanaTag) }

// withNPM runs the tests of a tag, which are in the package of that name.
func (c *check) withNPM(ctx context.Context, tag string) {
	c.goTestWith(ctx, &c.results, npmLimit, nil,
		"-tags="+tag, "-count=1", "-timeout="+npmLimit.String(), "./cmd/check/"+tag)
}
