//go:build wordpress

package wordpress

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/libraries"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// workers is how many requests are under way at once: php-fpm and Apache have
// four workers each, and the gateway's questions need some of them.
const workers = 6

// options are set before any test runs.
var options *settings

// running are the set-ups, which the first test that needs them starts.
var running struct {
	once  sync.Once
	stack *stack
	err   error
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) (code int) {
	var err error
	if options, err = settingsFromEnvironment(); err == nil {
		err = flag.Set("test.parallel", strconv.Itoa(workers)) // tests that wait for servers, not for the processor
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	libraries.Packages.Remove()
	if running.stack == nil {
		return code
	}
	if err := running.stack.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "set-ups:", err)
		return 1
	}
	return code
}

// setUps returns the set-ups. They are started once; what is missing fails every test
// and benchmark that needs them.
func setUps(tb testing.TB) *stack {
	tb.Helper()
	running.once.Do(func() {
		started := time.Now()
		if out, err := machine.Install(tb.Context(), debianPackages); err != nil {
			running.err = fmt.Errorf("%s\n%w", out, err)
			return
		}
		if running.stack, running.err = startStack(tb.Context(), "../../.."); running.err == nil {
			tb.Logf("WordPress %s is up (%s)", running.stack.sites[0].Release, time.Since(started).Round(100*time.Millisecond))
		}
	})
	if running.err != nil {
		tb.Fatalf("set-ups: %v", running.err)
	}
	return running.stack
}
