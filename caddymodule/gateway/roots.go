package gateway

import (
	"sync"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
)

// rootMemory is what the REST roots of a site listed when they were last read. It outlives a
// reload. It holds no routes of its own: sites with equal roots share one index.
type rootMemory struct {
	// Clients may send any host, and must not push out what is known of one that the
	// configuration names, see isSpelled.
	named, others hosts.Table[*index.Index]

	mu      sync.Mutex
	changed uint64 // routes that have come or gone
	last    adminapi.Routes
}

// rootPlace says where in the memory of a site a root is.
type rootPlace struct {
	key   string // the host, and what else tells roots apart
	named bool   // isSpelled holds for the host
}

func (m *rootMemory) table(at rootPlace) *hosts.Table[*index.Index] {
	if at.named {
		return &m.named
	}
	return &m.others
}

// get returns what a root listed before, or nil.
func (m *rootMemory) get(at rootPlace) *index.Index {
	x, _ := m.table(at).Get(at.key)
	return x
}

// swap keeps what a root lists now and returns what it listed before, or nil.
func (m *rootMemory) swap(at rootPlace, now *index.Index) (before *index.Index) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last.Count = now.Len()
	if before = m.get(at); before != now {
		m.table(at).Put(at.key, now)
	}
	return before
}

// count counts a change.
func (m *rootMemory) count(added, removed int) {
	now := time.Now().UTC()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed += uint64(added + removed)
	m.last.Changed, m.last.Added, m.last.Removed = &now, added, removed
}

func (m *rootMemory) changes() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// status returns what the status says, or nil before the first reading.
func (m *rootMemory) status() *adminapi.Routes {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Count == 0 {
		return nil
	}
	st := m.last
	return &st
}
