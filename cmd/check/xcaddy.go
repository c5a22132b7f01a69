package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ownCaddy stands for the program that xcaddy writes: Caddy, its standard modules, and
// the packages that are named to it.
const ownCaddy = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ %q
	_ %q
)

func main() { caddycmd.Main() }
`

// buildOwnCaddy builds what an xcaddy line asks for from the clone in dir, with a plugin
// beside it, and tries that Caddy. xcaddy itself is not run: docs/project/dependencies.md says why.
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
	defer func() { _ = os.RemoveAll(own) }()
	all := requirements + fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, dir) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => ./beside\n", besideModule, besideModule)
	err = errors.Join(
		os.Mkdir(filepath.Join(own, "beside"), 0o700),
		os.WriteFile(filepath.Join(own, "beside", "beside.go"), besidePlugin, 0o600),
		os.WriteFile(filepath.Join(own, "beside", "go.mod"), []byte("module "+besideModule+"\n"+requirements), 0o600),
		os.WriteFile(filepath.Join(own, "main.go"), fmt.Appendf(nil, ownCaddy, with, besideModule), 0o600),
		os.WriteFile(filepath.Join(own, "go.mod"), []byte("module caddy\n"+all), 0o600),
		os.WriteFile(filepath.Join(own, "go.sum"), sums, 0o600),
	)
	if err != nil {
		return "", err
	}
	if out, err := output(ctx, toolLimit, own, "go", "build", "-mod=mod", "-o", "caddy", "."); err != nil {
		return out, err
	}
	return tryOwnCaddy(ctx, own)
}
