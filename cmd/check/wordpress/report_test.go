//go:build wordpress

package wordpress

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
)

// settings are what a run takes from its environment, so that it can be replayed.
type settings struct {
	seed     uint64        // RESTWARDEN_SEED, of all that is generated; the clock where it is not set
	requests int           // RESTWARDEN_REQUESTS, how many the differential makes
	shots    int           // RESTWARDEN_SHOTS, how many the attack makes
	nightly  time.Duration // RESTWARDEN_NIGHTLY, how long the attack goes on, in place of a number
}

// Usual numbers of requests.
const (
	usualRequests = 3000
	usualShots    = 20_000
)

func settingsFromEnvironment() (*settings, error) {
	seed, err := environment.Number("RESTWARDEN_SEED", environment.Clock())
	requests, err1 := environment.Number("RESTWARDEN_REQUESTS", usualRequests)
	shots, err2 := environment.Number("RESTWARDEN_SHOTS", usualShots)
	nightly, err3 := environment.Nightly()
	return &settings{seed, int(requests), int(shots), nightly}, errors.Join(err, err1, err2, err3)
}

// checks counts what one test checks. Its sub-tests and several goroutines may use it.
type checks struct {
	t              *testing.T
	mu             sync.Mutex
	passed, failed int
}

// count returns the checks of t. At its end they are its attribute "checks", which
// cmd/check adds up; a test that has checked nothing fails.
func count(t *testing.T) *checks {
	t.Helper()
	c := &checks{t: t}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.Attr("checks", strconv.Itoa(c.passed))
		if c.passed+c.failed == 0 && !t.Failed() {
			t.Error("nothing was checked")
		}
	})
	return c
}

// maxFailures is how many failures of one test are printed in full: a gateway
// that misreads everything would bury the reason.
const maxFailures = 20

func (c *checks) pass(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += n
}

func (c *checks) failf(name, format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
	if c.failed > maxFailures {
		c.t.Errorf("%s: see the first ones", name)
		return
	}
	c.t.Errorf("%s: %s", name, fmt.Sprintf(format, args...))
}

// check counts one check, which failed if err says why.
func (c *checks) check(name string, err error) {
	c.t.Helper()
	if err != nil {
		c.failf(name, "%v", err)
		return
	}
	c.pass(1)
}
