//go:build wordpress && frankenphp

package wordpress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// frankenVariable names a Caddy that has both this module and FrankenPHP. The tests do not
// build one.
const frankenVariable = "RESTWARDEN_FRANKENPHP"

// The set-ups of such a Caddy.
const (
	franken       = "frankenphp"  // php_server
	frankenFolder = "frankenblog" // php_server with try_files, in a sub-folder
)

func frankenSites() []*site {
	return []*site{
		{Name: franken, FrankenPHP: true, Permalinks: prettyPermalinks},
		{Name: frankenFolder, FrankenPHP: true, Base: "/blog", Core: "/core", Permalinks: prettyPermalinks},
	}
}

// startFrankenPHP starts that Caddy with the gates of its sites.
func (s *stack) startFrankenPHP(ctx context.Context) error {
	data := s.caddyConfig(s.franken, true)
	config := filepath.Join(s.dir, "frankenphp.Caddyfile")
	if err := s.render("Caddyfile", config, data); err != nil {
		return err
	}
	_, err := s.runFrankenPHP(ctx, config, data.Gates[0].host())
	return err
}

// runFrankenPHP starts the Caddy with a configuration, and waits until it listens.
func (s *stack) runFrankenPHP(ctx context.Context, config, address string) (*machine.Process, error) {
	binary, err := frankenPHP(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.startServer(machine.Server{
		Dir: s.dir, Name: binary, Args: []string{"run", "--config", config, "--adapter", "caddyfile"},
		Env: []string{"PHPRC=" + s.dir}, // the php.ini of php-fpm
	})
	if err != nil {
		return nil, err
	}
	return p, p.Ready(ctx, machine.Connects("tcp", address))
}

// frankenPHP returns the Caddy's path, or what it lacks.
func frankenPHP(ctx context.Context) (string, error) {
	binary := os.Getenv(frankenVariable)
	if !filepath.IsAbs(binary) {
		return "", fmt.Errorf("%s=%q: want the absolute path of a Caddy with FrankenPHP", frankenVariable, binary)
	}
	out, err := machine.Run(ctx, "/", nil, binary, "list-modules")
	for _, module := range []string{"frankenphp", "http.handlers.php", "http.handlers.restwarden"} {
		if !strings.Contains("\n"+out, "\n"+module+"\n") {
			err = errors.Join(err, fmt.Errorf("%s: no module %s", frankenVariable, module))
		}
	}
	return binary, err
}
