package gateway

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// spoolKey is a spool in the pool: sites with the same directory and limit share it.
type spoolKey struct {
	dir   string
	limit int64
}

// checkedKey is a spool that one load of the configuration has checked. Each load has a
// registry of its own.
type checkedKey struct {
	load *prometheus.Registry
	spoolKey
}

// spoolDir returns the directory that the option names, or the system's.
func spoolDir(option string) (string, error) {
	if option == "" {
		return os.TempDir(), nil
	}
	dir, err := caddy.NewReplacer().ReplaceOrErr(option, true, true)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// spool leases the spool of a directory. It returns an error if no file can be made there,
// and reports the other findings once for each load.
func (l *leases) spool(ctx caddy.Context, key spoolKey, report func(budget.Finding)) (*budget.Spool, error) {
	_, err := lease(l, checkedKey{ctx.GetMetricsRegistry(), key}, func() (struct{}, error) {
		found, err := budget.CheckSpool(key.dir, key.limit)
		for _, f := range found {
			report(f)
		}
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("spool_dir: %w", err)
	}
	return l.uncheckedSpool(key)
}

// uncheckedSpool leases the spool of a directory that may not be usable.
func (l *leases) uncheckedSpool(key spoolKey) (*budget.Spool, error) {
	return lease(l, key, func() (*budget.Spool, error) { return budget.NewSpool(key.dir, key.limit), nil })
}
