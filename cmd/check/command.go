package main

import (
	"context"
	"fmt"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// output runs a command to its end and returns what it printed, both streams.
func output(ctx context.Context, limit time.Duration, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	return machine.Run(ctx, dir, nil, name, args...)
}
