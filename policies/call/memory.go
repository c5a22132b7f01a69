package call

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Memory bounds the bytes of request bodies that are in memory at one time, over all
// readers that share it. Bodies that are read in one piece share its limit, the beginnings
// of other bodies half as much. One site may hold a quarter of either, one client's
// address an eighth, so that no site and no client takes what others need.
type Memory struct {
	whole, chunks *budget
}

// MemoryFor returns the limit of a Memory for inspected bodies of at most largest bytes.
// Such a body, or the values of a multipart form, take twice their size, and that must fit
// into the share of one client.
func MemoryFor(largest int64) int64 { return 8 * costOfPosted * max(largest, phpvars.MaxValues) }

// NewMemory returns a Memory of limit bytes for bodies in one piece.
func NewMemory(limit int64) *Memory { return &Memory{newBudget(limit), newBudget(limit / 2)} }

// Bytes returns how much is held now.
func (m *Memory) Bytes() int64 { return m.whole.bytes() + m.chunks.bytes() }

// budget is a number of bytes that holders share.
type budget struct {
	limit   int64
	mu      sync.Mutex
	used    int64
	sites   map[*Reader]int64
	clients map[netip.Addr]int64
	waiting []*waiter
}

func newBudget(limit int64) *budget {
	return &budget{limit: limit, sites: map[*Reader]int64{}, clients: map[netip.Addr]int64{}}
}

// holder is the site that holds memory, and the client for whom. The zero Addr has no
// share of its own, for example where the address is a proxy's.
type holder struct {
	site   *Reader
	client netip.Addr
}

type waiter struct {
	holder
	n       int64
	granted chan struct{}
}

func (b *budget) bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// memoryPatience is how long a body waits for memory. Other bodies hold it only while they
// are read, not while they are sent or answered.
const memoryPatience = 10 * time.Second

// try takes n bytes if they are there.
func (b *budget) try(h holder, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(h, n)
}

// wait takes n bytes as soon as they are there. It returns false after memoryPatience, or
// when ctx ends.
func (b *budget) wait(ctx context.Context, h holder, n int64) bool {
	b.mu.Lock()
	if b.take(h, n) {
		b.mu.Unlock()
		return true
	}
	w := &waiter{h, n, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	timeout := time.NewTimer(memoryPatience)
	defer timeout.Stop()
	select {
	case <-w.granted:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return !b.giveUp(w)
}

// giveUp removes a waiter. It returns false where the waiter has just got its memory.
func (b *budget) giveUp(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	return true
}

// take takes n bytes if every share allows it. The caller holds the lock.
func (b *budget) take(h holder, n int64) bool {
	if b.used+n > b.limit || b.sites[h.site]+n > b.limit/4 || h.client.IsValid() && b.clients[h.client]+n > b.limit/8 {
		return false
	}
	b.add(h, n)
	return true
}

func (b *budget) add(h holder, n int64) {
	b.used += n
	if b.sites[h.site] += n; b.sites[h.site] == 0 {
		delete(b.sites, h.site)
	}
	if !h.client.IsValid() {
		return
	}
	if b.clients[h.client] += n; b.clients[h.client] == 0 {
		delete(b.clients, h.client)
	}
}

// free gives n bytes back. Waiters get them in their order. A waiter whose share is used up
// does not hold up the waiters behind it.
func (b *budget) free(h holder, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(h, -n)
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		granted := b.take(w.holder, w.n)
		if granted {
			close(w.granted)
		}
		return granted
	})
}
