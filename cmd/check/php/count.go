package php

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// count tells what became of the inputs.
type count struct {
	mu     sync.Mutex
	counts map[string]int
	failed int
}

func newCount() *count { return &count{counts: map[string]int{}} }

func (c *count) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

// maxFailures is how many differences are printed.
const maxFailures = 20

// fail counts a difference and tells whether it is one of the first.
func (c *count) fail() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
	return c.failed <= maxFailures
}

func (c *count) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	total := 0
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, ", %d %s", c.counts[what], what)
		total += c.counts[what]
	}
	return fmt.Sprintf("%d inputs, %d differences%s", total+c.failed, c.failed, b.String())
}
