package budget

import (
	"context"
	"net/netip"
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
	waiting waiting
}

// NewShares returns the shares of limit.
func NewShares(limit int64) *Shares {
	s := &Shares{limit: limit, sites: map[string]int64{}, clients: map[netip.Addr]int64{}}
	s.waiting = newWaiting(s.roomOfSite)
	return s
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
	defer s.serve()
	return s.take(h, n)
}

// Wait takes n for h as soon as there is room. It returns a FullError when ctx ends before, and
// at once where h may never hold as much. Who waits gets room in the order of arrival, but for
// those who need more than there is: see waiting.
func (s *Shares) Wait(ctx context.Context, h Holder, n int64) error {
	w, err := s.enter(h.network(), n)
	if w == nil {
		return err
	}
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		return s.giveUp(w)
	}
}

// enter takes n, or returns who waits for it.
func (s *Shares) enter(h Holder, n int64) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.Of(h) {
		return nil, s.full(h, n)
	}
	w := &waiter{Holder: h, n: n, granted: make(chan struct{})}
	if s.waiting.joins(w) {
		return w, nil // those of the line have come before
	}
	if err := s.take(h, n); err != nil {
		s.waiting.open(w)
		s.settle(h)
		return w, nil
	}
	s.serve()
	return nil, nil
}

// giveUp removes a waiter. It returns nil where the waiter has just got its room, or gets it now
// since only the one before it in line did not fit.
func (s *Shares) giveUp(w *waiter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.line == nil {
		return nil
	}
	s.waiting.leave(w)
	err := s.take(w.Holder, w.n)
	if err != nil {
		s.settle(w.Holder)
	}
	s.serve() // who stood behind it may fit
	return err
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
	case n > s.roomOfClient(h.Client):
		return errClientFull
	case n > s.roomOfSite(h.Site):
		return errSiteFull
	case n > s.limit-s.used:
		return errAllFull
	}
	return nil
}

func (s *Shares) roomOfSite(site string) int64 { return s.ofSite() - s.sites[site] }

func (s *Shares) roomOfClient(client netip.Addr) int64 {
	if !client.IsValid() {
		return s.limit
	}
	return s.ofClient() - s.clients[client]
}

// add changes what h holds. Who has room then is served by the caller.
func (s *Shares) add(h Holder, n int64) {
	s.used += n
	change(s.sites, h.Site, n)
	if h.Client.IsValid() {
		change(s.clients, h.Client, n)
	}
	s.settle(h)
}

// change adds n to what a share holds. Who holds nothing is not kept.
func change[K comparable](held map[K]int64, of K, n int64) {
	if n += held[of]; n != 0 {
		held[of] = n
	} else {
		delete(held, of)
	}
}

// Free gives back n that h has taken, and grants it to who has waited for it.
func (s *Shares) Free(h Holder, n int64) {
	if n == 0 {
		return
	}
	h = h.network()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(h, -n)
	s.serve()
}

// settle lets those wait for the right share whose shares or lines have changed.
func (s *Shares) settle(h Holder) { s.waiting.regroup(h, s.roomOfClient(h.Client)) }

// serve grants what there is room for, after any change: who takes something may fill up its
// client's share, and so stand aside for others who fit.
func (s *Shares) serve() {
	for {
		w := s.waiting.next(s.limit - s.used)
		if w == nil {
			return
		}
		s.waiting.leave(w)
		s.add(w.Holder, w.n)
		close(w.granted)
		s.waiting.served++
	}
}
