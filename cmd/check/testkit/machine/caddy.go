package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// CaddyVariable names a cmd/caddy that is built already. The check sets it, so that not every
// package of tests links its own.
const CaddyVariable = "RESTWARDEN_CADDY"

// Caddy returns the path of cmd/caddy, which it builds into dir unless CaddyVariable names one.
func Caddy(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(CaddyVariable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "caddy")
	if out, err := Run(ctx, ".", nil, "go", "build", "-o", path, "github.com/restwarden/restwarden/cmd/caddy"); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}
