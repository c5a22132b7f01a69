// Command scale measures what the gateway costs a Caddy with many sites: memory and CPU at
// start, at a reload and after a few requests for each site, and the adapted JSON, with the
// directive and without. It prints a table with the ratios, and fails where they are more than
// results.judge allows.
//
//	go run ./cmd/check/scale                one thousand sites
//	go run ./cmd/check/scale --sites 200    fewer
//	go run ./cmd/check/scale --profile DIR  also write profiles of the start and the reload
//
// All servers are real processes on the loopback address.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		stop()
		os.Exit(1)
	}
}

// limit bounds one run.
const limit = 20 * time.Minute

// settings are the flags.
type settings struct {
	sites, routes int
	profiles      string // a directory, or "" for none
	binary        string // of cmd/caddy, or "" to build it
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&s.sites, "sites", 1000, "how many sites")
	flags.IntVar(&s.routes, "routes", realRoutes, "how many routes the REST index of each site has")
	flags.StringVar(&s.profiles, "profile", "", "directory for CPU profiles of reloads and for heap profiles")
	flags.StringVar(&s.binary, "caddy", "", "the program to measure; cmd/caddy where empty")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 || s.sites < 1 || s.routes < 1 {
		return errors.New("--sites and --routes take positive numbers, and there are no arguments")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	table, err := s.measureAll(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d sites, a REST root of %d routes and %d KiB each, %s, %d processors\n\n%s",
		s.sites, s.routes, len(index(s.routes))>>10, runtime.Version(), runtime.NumCPU(), table)
	return errors.Join(err, table.judge())
}

// measureAll measures each kind of configuration in a process of its own.
func (s *settings) measureAll(ctx context.Context) (results, error) {
	dir, err := os.MkdirTemp("", "restwarden-scale-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the directory for temporary files
	if s.binary == "" {
		if s.binary, err = machine.Caddy(ctx, dir); err != nil {
			return nil, err
		}
	}
	var table results
	for _, k := range kinds {
		r, err := s.measure(ctx, filepath.Join(dir, k.name), k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.title, err)
		}
		table = append(table, r)
	}
	return table, nil
}

// measure starts Caddy with sites of one kind, reloads it and uses every site.
func (s *settings) measure(ctx context.Context, dir string, k kind) (result, error) {
	r := result{kind: k}
	platform, err := startPlatform(s.routes)
	if err != nil {
		return r, err
	}
	defer platform.stop()
	c, err := s.startCaddy(ctx, dir, k, platform.address)
	if err != nil {
		return r, err
	}
	defer c.process.Stop()
	if r.start, err = c.settle(ctx, 0); err != nil {
		return r, err
	}
	adapted, err := c.adapted(ctx)
	if err != nil {
		return r, err
	}
	r.json = len(adapted)
	if err := s.profiled(ctx, c, "start-"+k.name, nil); err != nil {
		return r, err
	}
	if r.reload, err = c.after(ctx, c.reload); err != nil {
		return r, err
	}
	if r.again, err = c.after(ctx, c.reloadJSON); err != nil {
		return r, err
	}
	r.used, err = c.after(ctx, func(ctx context.Context) error {
		err := c.use(ctx, s.sites, requests)
		if err == nil && k.guarded {
			r.indexes = platform.indexed(ctx, s.sites)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	return r, s.profiled(ctx, c, "used-"+k.name, c.reload)
}

// profiled writes a profile of the heap and, where there is work, one of the CPU while the
// work is done several times.
func (s *settings) profiled(ctx context.Context, c *caddy, name string, work func(context.Context) error) error {
	if s.profiles == "" {
		return nil
	}
	if err := os.MkdirAll(s.profiles, 0o750); err != nil {
		return err
	}
	heap, err := c.admin.Get(ctx, "/debug/pprof/heap?gc=1")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.profiles, name+".heap"), heap, 0o600)
	}
	if err != nil || work == nil {
		return err
	}
	profile := make(chan error, 1)
	go func() {
		b, err := c.admin.Get(ctx, "/debug/pprof/profile?seconds=3")
		profile <- errors.Join(err, os.WriteFile(filepath.Join(s.profiles, name+".cpu"), b, 0o600))
	}()
	for {
		select {
		case err := <-profile:
			return err
		default:
		}
		if err := work(ctx); err != nil {
			return errors.Join(err, <-profile)
		}
	}
}
