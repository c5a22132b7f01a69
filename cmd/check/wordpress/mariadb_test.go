//go:build wordpress

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

// startMariaDB starts a fresh database server that listens on a unix socket
// only, with one database per site.
func (s *stack) startMariaDB(ctx context.Context) error {
	data := filepath.Join(s.dir, "mariadb")
	s.socket = filepath.Join(s.dir, "run", "mariadb.sock")
	if err := errors.Join(s.shareDir(data), s.shareDir(filepath.Dir(s.socket))); err != nil {
		return err
	}
	options := []string{"--no-defaults", "--datadir=" + data, "--skip-name-resolve"}
	if account := s.accountOf("mysql"); account != "" { // the server does not run as root
		options = append(options, "--user="+account)
		if _, err := machine.Run(ctx, s.dir, nil, "chown", account, data); err != nil {
			return err
		}
	}
	out, err := machine.Run(ctx, s.dir, nil, "mariadb-install-db",
		append(options, "--auth-root-authentication-method=normal", "--skip-test-db")...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	var create strings.Builder
	create.WriteString("CREATE USER wordpress@localhost IDENTIFIED BY 'wordpress';\n")
	for _, site := range s.sites {
		fmt.Fprintf(&create, "CREATE DATABASE %s CHARACTER SET utf8mb4;\n", site.database())
		fmt.Fprintf(&create, "GRANT ALL ON %s.* TO wordpress@localhost;\n", site.database())
	}
	initFile := filepath.Join(s.dir, "create.sql")
	if err := os.WriteFile(initFile, []byte(create.String()), 0o644); err != nil {
		return err
	}
	// The data is thrown away: nothing waits for the disk.
	p, err := s.start("mariadbd", append(options, "--socket="+s.socket, "--skip-networking",
		"--skip-log-bin", "--init-file="+initFile, "--pid-file="+filepath.Join(data, "pid"),
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=128M",
		"--performance-schema=0")...)
	if err != nil {
		return err
	}
	return p.Ready(ctx, func(ctx context.Context) error {
		_, err := s.sql(ctx, s.sites[0], "SELECT 1")
		return err
	})
}

// sql runs a statement in a site's database and returns its rows, tab-separated.
// {prefix} stands for that of the tables.
func (s *stack) sql(ctx context.Context, site *site, statement string) ([]string, error) {
	out, err := machine.Run(ctx, s.dir, nil, "mariadb", "--no-defaults", "--socket="+s.socket,
		"--user=wordpress", "--password=wordpress", "--batch", "--skip-column-names",
		"--execute="+strings.ReplaceAll(statement, "{prefix}", s.source.prefix), site.database())
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return strings.Split(strings.TrimRight(out, "\n"), "\n"), nil
}
