// Command latency measures how long calls take when a shop is busy: a constant rate of
// requests, 70 % of what Caddy holds without the directive, to a Caddy without it and to one
// with it, in several weathers. It prints a table with the ratios, and fails where
// results.judge says that something is wrong.
//
//	go run ./cmd/check/latency                          twenty seconds for each side and weather
//	go run ./cmd/check/latency --slice 1s --slices 2    a short form
//
// All servers are real processes on the loopback address, but for the platform, which
// answers at once in the process of the client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	debug.SetGCPercent(400) // the client takes little of the processors
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		stop()
		os.Exit(1)
	}
}

// limit bounds one run.
const limit = 20 * time.Minute

// part is how much of what bare Caddy holds is sent.
const part = 0.7

// settings are the flags, and what follows from them.
type settings struct {
	slice   time.Duration // of load to one side
	slices  int           // for each side and weather
	senders int
	rate    float64 // requests a second, or 0 to find it
	flood   float64 // requests a second
	refused float64 // calls a second that are refused
	only    string  // a weather, or "" for all
	binary  string  // of cmd/caddy, or "" to build it
	warm    time.Duration
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s := settings{warm: 500 * time.Millisecond}
	flags := flag.NewFlagSet("latency", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.DurationVar(&s.slice, "slice", 5*time.Second, "how long one side gets load at a time")
	flags.IntVar(&s.slices, "slices", 4, "how often each side does, in each weather")
	flags.IntVar(&s.senders, "senders", 256, "how many connections the client has")
	flags.Float64Var(&s.rate, "rate", 0, "requests a second; 70 % of what bare Caddy holds where 0")
	flags.Float64Var(&s.flood, "flood", 20, "requests a second of the flood, 125 KB each")
	flags.Float64Var(&s.refused, "refused", 1000, "calls a second that are refused beside the others")
	flags.StringVar(&s.only, "only", "", "measure one weather; all where empty")
	flags.StringVar(&s.binary, "caddy", "", "the program to measure; cmd/caddy where empty")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 || s.slice <= 0 || s.slices < 1 || s.senders < 1 || s.rate < 0 || s.flood <= 0 || s.refused <= 0 {
		return errors.New("flags take positive numbers, and there are no arguments")
	}
	if s.only != "" && !slices.ContainsFunc(weathers, func(w weather) bool { return w.name == s.only }) {
		return fmt.Errorf("there is no weather %q", s.only)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	table, err := s.measureAll(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%.0f requests a second, %d connections, %d slices of %s, %s, %d processors\n\n%s",
		s.rate, s.senders, s.slices, s.slice, runtime.Version(), runtime.NumCPU(), table)
	return errors.Join(err, table.judge())
}

// measureAll measures each weather with processes of its own.
func (s *settings) measureAll(ctx context.Context) (results, error) {
	dir, err := os.MkdirTemp("", "restwarden-latency-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the directory for temporary files
	if s.binary == "" {
		if s.binary, err = machine.Caddy(ctx, dir); err != nil {
			return nil, err
		}
	}
	if s.rate == 0 {
		if err := s.calibrate(ctx, dir); err != nil {
			return nil, err
		}
	}
	var table results
	for _, w := range weathers {
		if s.only != "" && s.only != w.name {
			continue
		}
		r, err := s.measure(ctx, dir, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		table = append(table, r)
	}
	return table, nil
}

// calibrate finds the rate.
func (s *settings) calibrate(ctx context.Context, dir string) error {
	shop, err := open(ctx, s.binary, dir, false)
	if err != nil {
		return err
	}
	defer shop.close()
	if _, err = shop.bare.rateHeld(ctx, s.warm, 1); err != nil {
		return err
	}
	held, err := shop.bare.rateHeld(ctx, s.warm, 4)
	s.rate = part * held
	return err
}
