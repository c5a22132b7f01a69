package refusals

import (
	"slices"
	"sync"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// Kept is how many records of a site are kept.
const Kept = 100

// Last are the last records of a site. The zero value has none.
type Last struct {
	mu      sync.Mutex
	records []adminapi.Refusal // a ring once it is full
	oldest  int                // index in a full ring
}

// Add keeps a record, in the place of the oldest one if there are [Kept].
func (l *Last) Add(rec adminapi.Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) < Kept {
		l.records = append(l.records, rec)
		return
	}
	l.records[l.oldest] = rec
	l.oldest = (l.oldest + 1) % Kept
}

// All returns the records, the newest first.
func (l *Last) All() []adminapi.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Concat(l.records[l.oldest:], l.records[:l.oldest])
	slices.Reverse(all)
	return all
}
