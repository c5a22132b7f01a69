// Command check is the one command that runs the tests: it sets up what they
// need on a bare Debian machine with Go, runs everything, prints the failures
// and ends with one line "N passed, N failed". It exits with 1 if anything
// failed or nothing ran.
//
//	go run ./cmd/check                  everything
//	go run ./cmd/check --fast           what needs no server, in a minute, while one works
//	go run ./cmd/check --run test,fuzz  some steps
//	go run ./cmd/check --list           the steps
//	go run ./cmd/check --nightly 2h     what generates inputs goes on for two hours each, all systems are built for, and mutants are tried
//	go run ./cmd/check --before HEAD~3  only whether the gateway does what that of a revision did
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
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// run runs the steps that args select and tells whether all of them passed. An
// error means that it could not begin.
func run(ctx context.Context, args []string, out io.Writer) (ok bool, err error) {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(out)
	// A number of executions by default: go test reports its own deadline as a
	// failure now and then, on a machine that is busy.
	fuzz := fuzzTime{text: "5000x"}
	flags.Var(&fuzz, "fuzz", "how long each fuzz target runs: a time such as 10m, or a number of executions such as 20000x")
	seed := flags.Uint64("seed", 0, "of what is generated; 0 takes the clock")
	nightly := flags.Duration("nightly", 0, "how long each generator of the steps test, php and wordpress goes on, in place of a number of inputs, and at most the step mutation")
	fast := flags.Bool("fast", false, "only what takes a minute and installs nothing: for while you work")
	names := flags.String("run", "", "comma-separated names of the steps to run; all where empty")
	before := flags.String("before", "", "a revision: only hold the gateway and its commands against those built from it")
	writeEvidence := flags.Bool("evidence", false, "write the figures of README from what the run has counted")
	list := flags.Bool("list", false, "list the steps and stop")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return true, nil
		}
		return false, err
	}
	if flags.NArg() > 0 {
		return false, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *nightly < 0 {
		return false, fmt.Errorf("--nightly %s is negative", *nightly)
	}
	if *fast {
		flags.Visit(func(f *flag.Flag) {
			if f.Name != "fast" && f.Name != "list" {
				err = fmt.Errorf("--fast is a selection of its own: it cannot stand together with --%s", f.Name)
			}
		})
	}
	if err != nil {
		return false, err
	}
	selected, err := selectSteps(*names, *fast)
	if err != nil {
		return false, err
	}
	if *before != "" {
		selected = []step{holdAgainst(*before)}
	}
	if *list {
		for _, s := range selected {
			_, _ = fmt.Fprintf(out, "%-12s %s\n", s.name, s.what)
		}
		return true, nil
	}
	root, err := repositoryRoot()
	if err != nil {
		return false, err
	}
	c := &check{root: root, fuzzTime: fuzz, nightly: *nightly, seed: *seed, fast: *fast, writeEvidence: *writeEvidence, results: results{out: out}}
	c.runSteps(ctx, selected)
	return c.results.report(), nil
}

// check is one run.
type check struct {
	root          string
	fuzzTime      fuzzTime
	nightly       time.Duration // 0 for a usual run
	seed          uint64        // 0 for the clock
	fast          bool
	writeEvidence bool // into README, in place of holding it
	results       results
}

func (c *check) runSteps(ctx context.Context, selected []step) {
	for _, s := range selected {
		if ctx.Err() != nil {
			c.results.fail(s.name, "not run: interrupted")
			return
		}
		c.results.begin(s)
		start := time.Now()
		s.run(c, ctx)
		c.results.end(time.Since(start))
	}
	if c.fast {
		var left []string
		for _, s := range steps {
			if !s.fast {
				left = append(left, s.name)
			}
		}
		c.results.leave("the steps " + strings.Join(left, ", "))
	}
}

// selectSteps returns the steps with these names, all without any, or those of --fast.
func selectSteps(names string, fast bool) ([]step, error) {
	if fast {
		return slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return !s.fast }), nil
	}
	if names == "" {
		return steps, nil
	}
	var selected []step
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no step %q, see --list", name)
		}
		selected = append(selected, steps[i])
	}
	return selected, nil
}

// repositoryRoot is the nearest directory upwards that holds go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod here or above: run it inside the repository")
		}
	}
}
