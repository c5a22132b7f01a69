package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ownCaddy is the program that xcaddy writes: Caddy, its standard modules, and the named
// package.
const ownCaddy = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ %q
)

func main() { caddycmd.Main() }
`

// buildOwnCaddy does what an xcaddy line asks for, in a module of its own: xcaddy itself
// would fetch the published module instead of the clone in dir.
func buildOwnCaddy(ctx context.Context, dir, line string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	head, requirements, _ := strings.Cut(string(mod), "\n")
	module := strings.TrimPrefix(head, "module ")
	_, with, _ := strings.Cut(line, "--with ")
	if !strings.HasPrefix(with, module) {
		return "", fmt.Errorf("the line does not build %s", module)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return "", err
	}
	own, err := os.MkdirTemp("", "restwarden-own-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(own)
	requirements += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, dir)
	err = errors.Join(
		os.WriteFile(filepath.Join(own, "main.go"), fmt.Appendf(nil, ownCaddy, with), 0o644),
		os.WriteFile(filepath.Join(own, "go.mod"), []byte("module caddy\n"+requirements), 0o644),
		os.WriteFile(filepath.Join(own, "go.sum"), sums, 0o644),
	)
	if err != nil {
		return "", err
	}
	if out, err := output(ctx, toolLimit, own, "go", "build", "-mod=mod", "-o", "caddy", "."); err != nil {
		return out, err
	}
	modules, err := output(ctx, toolLimit, own, "./caddy", "list-modules")
	if err == nil && !strings.Contains(modules, "http.handlers.restwarden\n") {
		err = errors.New("the Caddy that was built does not have the module")
	}
	return modules, err
}
