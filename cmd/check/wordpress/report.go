package wordpress

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// Report says where to run and takes what comes of it: every single check is
// counted as passed or failed by name. It may be used by several goroutines.
type Report struct {
	Root     string        // of the repository
	Seed     uint64        // of the generated requests; 0: the clock
	Requests int           // how many the differential makes; 0: RESTWARDEN_REQUESTS, else 3000
	Shots    int           // how many the attack makes; 0: RESTWARDEN_SHOTS, else 20,000
	For      time.Duration // how long the attack goes on, in place of a number; 0: a number

	Progress func(format string, args ...any) // a line for whoever watches
	Pass     func(n int)                      // n checks passed
	Fail     func(name, output string)        // one failed

	mu     sync.Mutex
	failed map[string]int // by part
}

// fromEnvironment fills in what is not set, so that a run can be replayed.
func (t *Report) fromEnvironment() error {
	t.Seed = cmp.Or(t.Seed, uint64(time.Now().UnixNano()))
	requests, err := fromVariable("RESTWARDEN_REQUESTS", uint64(t.Requests), 3000)
	shots, err1 := fromVariable("RESTWARDEN_SHOTS", uint64(t.Shots), usualShots)
	t.Requests, t.Shots = int(requests), int(shots)
	return errors.Join(err, err1)
}

// fromVariable returns set, or else the value of a variable, or else usual.
func fromVariable(name string, set, usual uint64) (uint64, error) {
	text := os.Getenv(name)
	if set != 0 || text == "" {
		return cmp.Or(set, usual), nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// maxFailures is how many failures of one part are printed in full: a gateway
// that misreads everything would bury the reason.
const maxFailures = 20

func (t *Report) passed(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Pass(n)
}

func (t *Report) failf(part, name, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = map[string]int{}
	}
	t.failed[part]++
	output := fmt.Sprintf(format, args...)
	if t.failed[part] > maxFailures {
		output = "see the first ones"
	}
	t.Fail(part+"/"+name, output)
}

// check counts one check, which failed if err says why.
func (t *Report) check(part, name string, err error) {
	if err != nil {
		t.failf(part, name, "%v", err)
		return
	}
	t.passed(1)
}

func (t *Report) progress(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Progress(format, args...)
}

// timed runs one part and says how long it took.
func (t *Report) timed(part string, run func()) {
	start := time.Now()
	run()
	t.progress("   %s (%s)", part, time.Since(start).Round(100*time.Millisecond))
}
