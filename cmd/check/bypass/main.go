// Command bypass sends one call of a WordPress in all its spellings to a proxy that is
// meant to close it, and says which of them get past. docs/commands/bypass.md describes it.
//
//	go run ./cmd/check/bypass --proxy http://127.0.0.1:8000 --platform http://127.0.0.1:8080
//
// It only reads: see quiet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The exit statuses.
const (
	nothingPast = iota
	somethingPast
	wrongUsage
	notKnown // the platform or the proxy does not answer in a way that says anything
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// limit bounds one run, and most its requests.
const (
	limit = 30 * time.Minute
	most  = 100_000
)

// settings are the flags.
type settings struct {
	proxy, platform, host string
	route, open           string
	requests              int
	seed                  uint64
	format                string
	mine                  bool
}

func (s *settings) parse(args []string, usage io.Writer) error {
	flags := flag.NewFlagSet("bypass", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&s.proxy, "proxy", "", "address of the proxy under test, such as http://127.0.0.1:8000")
	flags.StringVar(&s.platform, "platform", "", "address of the WordPress behind it, past the proxy")
	flags.StringVar(&s.host, "host", "", "host name of the site; that of --proxy where empty")
	flags.StringVar(&s.route, "route", "/wp/v2/users", "the route that the proxy is meant to close")
	flags.StringVar(&s.open, "open", "/wp/v2/taxonomies", "a route that the proxy leaves open")
	flags.IntVar(&s.requests, "requests", 1000, "how many requests are sent")
	flags.Uint64Var(&s.seed, "seed", 1, "of what is drawn at random")
	flags.StringVar(&s.format, "format", "text", "text or json")
	flags.BoolVar(&s.mine, "i-own-this", false, "the addresses are yours; without it only loopback addresses are called")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("no arguments, please: %q", flags.Args())
	case s.requests < 1 || s.requests > most:
		return fmt.Errorf("--requests is a number from 1 to %d", most)
	case s.format != "text" && s.format != "json":
		return fmt.Errorf("--format is text or json, not %q", s.format)
	case !plainRoute.MatchString(s.route) || !plainRoute.MatchString(s.open) || s.route == s.open:
		return errors.New("--route and --open are two routes such as /wp/v2/users")
	}
	return nil
}

// run does the work and returns the exit status.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	var s settings
	if err := s.parse(args, log); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nothingPast
		}
		_, _ = fmt.Fprintln(log, "bypass:", err)
		return wrongUsage
	}
	proxy, platform, err := s.peers()
	if err != nil {
		_, _ = fmt.Fprintln(log, "bypass:", err)
		return wrongUsage
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	r, err := try(ctx, &s, proxy, platform)
	if err == nil {
		err = r.write(out, s.format)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(log, "bypass:", err)
		return notKnown
	case r.Past > 0:
		return somethingPast
	}
	return nothingPast
}
