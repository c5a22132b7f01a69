package pool

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// Memory is the key of the memory for bodies: those with the same limit share it.
type Memory struct {
	Limit int64 // in bytes
}

// Lease leases the memory.
func (k Memory) Lease(l *Leases) (*budget.Memory, error) {
	return Lease(l, k, func() (*budget.Memory, error) { return budget.NewMemory(k.Limit), nil })
}

// Spool is the key of a spool for bodies: those with the same directory and limit share it.
type Spool struct {
	Dir   string // see SpoolDir
	Limit int64  // in bytes
}

// checked is the key of a spool that one load of the configuration has checked. Each load has
// a registry of its own.
type checked struct {
	load *prometheus.Registry
	Spool
}

// SpoolDir returns the directory that is configured, or the system's for "". It fails if a
// placeholder has no value.
func SpoolDir(configured string) (string, error) {
	if configured == "" {
		return os.TempDir(), nil
	}
	dir, err := option.Resolved(configured)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// Lease leases the spool. It returns an error if no file can be made in its directory, and
// reports the other findings once for each load of a configuration.
func (k Spool) Lease(ctx caddy.Context, l *Leases, report func(finding string)) (*budget.Spool, error) {
	_, err := Lease(l, checked{ctx.GetMetricsRegistry(), k}, func() (struct{}, error) {
		found, err := budget.CheckSpool(k.Dir, k.Limit)
		for _, f := range found {
			report(f)
		}
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("spool_dir: %w", err)
	}
	return k.LeaseUnchecked(l)
}

// LeaseUnchecked leases a spool whose directory may not be usable.
func (k Spool) LeaseUnchecked(l *Leases) (*budget.Spool, error) {
	return Lease(l, k, func() (*budget.Spool, error) { return budget.NewSpool(k.Dir, k.Limit), nil })
}

// SpooledBytes is how much of request bodies and rewritten answers is on disk now, over all
// sites.
func SpooledBytes() float64 { return total[*budget.Spool]() }

// BufferedBytes is how much of them is in memory now.
func BufferedBytes() float64 { return total[*budget.Memory]() }

// total adds up what the values of one type hold.
func total[T interface{ Bytes() int64 }]() float64 {
	var sum int64
	for v := range Values[T]() {
		sum += v.Bytes()
	}
	return float64(sum)
}
