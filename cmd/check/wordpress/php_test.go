//go:build wordpress

package wordpress

import (
	"context"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// startPHP starts php-fpm with a few workers on a unix socket.
func (s *stack) startPHP(ctx context.Context) error {
	binary, err := machine.Newest(fpmBinary)
	if err != nil {
		return err
	}
	if err := s.shareDir(filepath.Join(s.dir, "php-tmp")); err != nil {
		return err
	}
	data := struct{ Dir, User string }{s.dir, s.accountOf(webUser)}
	for _, name := range []string{"php.ini", "php-fpm.conf"} {
		if err := s.render(name, filepath.Join(s.dir, name), data); err != nil {
			return err
		}
	}
	// The directories of extensions are compiled in and read in any case.
	p, err := s.start(binary, "--nodaemonize", "--php-ini", filepath.Join(s.dir, "php.ini"),
		"--fpm-config", filepath.Join(s.dir, "php-fpm.conf"))
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("unix", s.fpmSocket()))
}

func (s *stack) fpmSocket() string { return filepath.Join(s.dir, "php-fpm.sock") }

// otherSocket leads to the pool that does so for a site with rewrite rules, and whose PHP
// splits queries at ";".
func (s *stack) otherSocket() string { return filepath.Join(s.dir, "php-other.sock") }

// earlySocket leads to the pool that ends pages early.
func (s *stack) earlySocket() string { return filepath.Join(s.dir, "php-early.sock") }
