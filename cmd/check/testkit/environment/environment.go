// Package environment is what a run of the tests takes from its environment, so that it can be
// repeated, and can go on for longer.
package environment

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Seed returns RESTWARDEN_SEED, of all that is generated. Where it is not set or 0 that is
// usual, and in the nightly mode the clock.
func Seed(usual uint64) (uint64, error) {
	nightly, err := Nightly()
	if err != nil {
		return 0, err
	}
	if nightly > 0 {
		usual = Clock()
	}
	return Number("RESTWARDEN_SEED", usual)
}

// Clock returns a seed that no run had before.
func Clock() uint64 { return uint64(time.Now().UnixNano()) }

// Nightly returns RESTWARDEN_NIGHTLY, how long a generator goes on, in place of a number of
// inputs. It is 0 in a usual run.
func Nightly() (time.Duration, error) {
	nightly, err := time.ParseDuration(cmp.Or(os.Getenv("RESTWARDEN_NIGHTLY"), "0s"))
	if err != nil {
		return 0, fmt.Errorf("RESTWARDEN_NIGHTLY: %w", err)
	}
	return nightly, nil
}

// Number returns the number that a variable has, or usual where it is not set or 0.
func Number(name string, usual uint64) (uint64, error) {
	text := os.Getenv(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return cmp.Or(n, usual), nil
}
