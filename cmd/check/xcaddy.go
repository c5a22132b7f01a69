package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ownCaddy stands for the program that xcaddy writes: Caddy, its standard modules, and
// the package that is named to it.
const ownCaddy = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ %q
)

func main() { caddycmd.Main() }
`

// buildOwnCaddy builds what an xcaddy line asks for from the clone in dir, and
// returns the modules of that Caddy. xcaddy itself is not run: docs/dependencies.md
// says why.
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
	requirements += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, dir)
	err = errors.Join(
		os.WriteFile(filepath.Join(own, "main.go"), fmt.Appendf(nil, ownCaddy, with), 0o600),
		os.WriteFile(filepath.Join(own, "go.mod"), []byte("module caddy\n"+requirements), 0o600),
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

// tryOwnCaddy looks for the module and for a command of it in the Caddy in dir.
func tryOwnCaddy(ctx context.Context, dir string) (string, error) {
	modules, err := output(ctx, toolLimit, dir, "./caddy", "list-modules")
	if err != nil {
		return modules, err
	}
	if !strings.Contains(modules, "http.handlers.restwarden\n") {
		return modules, errors.New("the Caddy that was built does not have the module")
	}
	line := `{"id":"x","request":"` + base64.StdEncoding.EncodeToString([]byte("GET /wp-json/wp/v2/posts HTTP/1.1\r\nHost: localhost\r\n\r\n")) + `"}`
	if err := os.WriteFile(filepath.Join(dir, "recorded"), []byte(line+"\n"), 0o600); err != nil {
		return "", err
	}
	out, err := output(ctx, toolLimit, dir, "./caddy", "restwarden", "classify", "recorded")
	if err == nil && !strings.Contains(out, `"id":"x"`) {
		err = errors.New("the Caddy that was built does not classify a request")
	}
	return out, err
}
