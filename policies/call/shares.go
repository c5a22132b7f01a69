package call

import (
	"context"
	"net/netip"
	"slices"
	"sync"
)

// Holder says on whose account something is held that many share.
type Holder struct {
	Site string // the site's name in the configuration
	// Client is the client's address. The zero Addr has no share of its own, for example
	// where the address is a proxy's.
	Client netip.Addr
}

// network returns h with the address as shares count it: IPv6 by /64, since one client
// commonly has that many.
func (h Holder) network() Holder {
	h.Client = h.Client.Unmap().WithZone("")
	if h.Client.Is6() {
		if p, err := h.Client.Prefix(64); err == nil {
			h.Client = p.Addr()
		}
	}
	return h
}

// Shares divides a limit between holders, in bytes or in questions. One site may hold a
// quarter of the limit, one client's address an eighth, and either at least 1. So no site and
// no client takes what others need. Nothing is taken back from a holder.
type Shares struct {
	limit   int64
	mu      sync.Mutex
	used    int64
	sites   map[string]int64
	clients map[netip.Addr]int64
	waiting []*waiter
}

type waiter struct {
	Holder
	n       int64
	granted chan struct{}
}

// NewShares returns the shares of limit.
func NewShares(limit int64) *Shares {
	return &Shares{limit: limit, sites: map[string]int64{}, clients: map[netip.Addr]int64{}}
}

// FullError says which share has no room: "client", "site", or "all" for the whole limit.
type FullError string

// Error implements error.
func (e FullError) Error() string {
	if e == errAllFull {
		return "the share of all sites together is used up"
	}
	return "the share of the " + string(e) + " is used up"
}

const (
	errClientFull FullError = "client"
	errSiteFull   FullError = "site"
	errAllFull    FullError = "all"
)

// Used returns how much is held now.
func (s *Shares) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// HeldBy returns how much a site holds now.
func (s *Shares) HeldBy(site string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sites[site]
}

func (s *Shares) ofSite() int64   { return max(1, s.limit/4) }
func (s *Shares) ofClient() int64 { return max(1, s.limit/8) }

// Of returns the most that h may ever hold.
func (s *Shares) Of(h Holder) int64 {
	if h.Client.IsValid() {
		return min(s.limit, s.ofClient())
	}
	return min(s.limit, s.ofSite())
}

// Try takes n for h, or returns a FullError.
func (s *Shares) Try(h Holder, n int64) error {
	h = h.network()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(h, n)
}

// Wait takes n for h as soon as there is room. It returns a FullError when ctx ends before.
// Waiters get room in their order.
func (s *Shares) Wait(ctx context.Context, h Holder, n int64) error {
	h = h.network()
	s.mu.Lock()
	if s.take(h, n) == nil {
		s.mu.Unlock()
		return nil
	}
	w := &waiter{h, n, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		return s.giveUp(w)
	}
}

// giveUp removes a waiter. It returns nil where the waiter has just got its room.
func (s *Shares) giveUp(w *waiter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i < 0 {
		return nil
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return s.full(w.Holder, w.n)
}

// take takes n if every share allows it. The caller holds the lock.
func (s *Shares) take(h Holder, n int64) error {
	if err := s.full(h, n); err != nil {
		return err
	}
	s.add(h, n)
	return nil
}

func (s *Shares) full(h Holder, n int64) error {
	switch {
	case h.Client.IsValid() && s.clients[h.Client]+n > s.ofClient():
		return errClientFull
	case s.sites[h.Site]+n > s.ofSite():
		return errSiteFull
	case s.used+n > s.limit:
		return errAllFull
	}
	return nil
}

func (s *Shares) add(h Holder, n int64) {
	s.used += n
	if s.sites[h.Site] += n; s.sites[h.Site] == 0 {
		delete(s.sites, h.Site)
	}
	if !h.Client.IsValid() {
		return
	}
	if s.clients[h.Client] += n; s.clients[h.Client] == 0 {
		delete(s.clients, h.Client)
	}
}

// Free gives back n that h has taken. A waiter whose own share is used up does not hold up
// the waiters behind it.
func (s *Shares) Free(h Holder, n int64) {
	if n == 0 {
		return
	}
	h = h.network()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(h, -n)
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool {
		granted := s.take(w.Holder, w.n) == nil
		if granted {
			close(w.granted)
		}
		return granted
	})
}
