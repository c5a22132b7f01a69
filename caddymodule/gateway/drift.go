package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/drift"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/store"
)

const (
	// keptRoutes is how long a shared store remembers what a root listed. Each reading
	// begins it anew.
	keptRoutes = 30 * 24 * time.Hour
	// toldOnce is how long a change counts as told: longer than two gateways that have read
	// the old value need, and shorter than the pause between two readings of one gateway.
	toldOnce = 30 * time.Second
	// maxListed bounds each list of routes in a line of the log.
	maxListed = 50
)

// drift compares what a root lists with what it listed before, and tells what has changed.
// A root without routes says nothing. named says that isSpelled holds for the host.
func (s *site) drift(ctx context.Context, root *discover.Root, host string, named bool) {
	if root.Index == nil || ctx.Err() != nil { // the site is gone
		return
	}
	at := s.rootPlace(host, named)
	if shared := s.g.app.shared; shared != nil && named {
		s.driftShared(ctx, s.g.app.counted(shared), at, root, host)
		return
	}
	before := s.state.roots.swap(at, root.Index)
	if before == nil || before == root.Index {
		return
	}
	added, removed := drift.Compare(before.Names(), root.Index.Names())
	s.tell(root, host, added, removed)
}

// driftShared does the same with the memory of all gateways of a store. While the store
// fails nothing is compared and nothing is forgotten: the change is told by the first reading
// that reaches the store.
func (s *site) driftShared(ctx context.Context, shared store.Store, at rootPlace, root *discover.Root, host string) {
	now, m := root.Index, &s.state.roots
	own, key := m.get(at), "routes:"+s.Name+":"+at.key
	value, found, err := shared.Get(ctx, key)
	if err != nil {
		if own == nil {
			m.swap(at, now)
		}
		return
	}
	var before []string
	switch {
	case found && drift.Same(value, now):
		m.swap(at, now)
		_ = shared.Set(ctx, key, value, keptRoutes) // it has been read: it is there for days
		return
	case found:
		before, _ = drift.Unpack(value) // garbage is nothing
	case own != nil:
		before = own.Names()
	}
	added, removed := drift.Compare(before, now.Names())
	if before != nil && len(added)+len(removed) > 0 {
		from, to := index.DigestOf(before), now.Digest()
		first, err := shared.SetOnce(ctx, key+":"+hex.EncodeToString(from[:])+":"+hex.EncodeToString(to[:]), toldOnce)
		if err != nil {
			return
		}
		if first {
			s.tell(root, host, added, removed)
		}
	}
	m.swap(at, now)
	if value, ok := drift.Pack(now); ok {
		_ = shared.Set(ctx, key, value, keptRoutes) // or the change is told once more
	} else {
		_ = shared.Delete(ctx, key) // each gateway remembers it alone
	}
}

// isSpelled tells whether a request names its host as the configuration does, without a port
// or with the one that it came to. A client may send any number of other spellings.
func (s *site) isSpelled(r *http.Request) bool {
	name := hosts.Name(r.Host)
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil || !strings.HasSuffix(local.String(), ":"+port) {
			return false
		}
	}
	host := s.hostOf(name, r)
	return host != other && !strings.ContainsAny(host, "*{") && name == strings.ToLower(host)
}

// rootPlace tells roots apart as callers are told apart: by host as sent, server, platform,
// base and prefix.
func (s *site) rootPlace(host string, named bool) rootPlace {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Server, s.g.Platform, s.g.Base, s.g.Prefix.First()}, "\x00")))
	return rootPlace{host + " " + string(sum[:8]), named}
}

// tell logs and counts a change.
func (s *site) tell(root *discover.Root, host string, added, removed []string) {
	if len(added)+len(removed) == 0 {
		return
	}
	s.state.roots.count(len(added), len(removed))
	anonymous, undecided := drift.Anonymous(s.chain, root, added)
	fields := []zap.Field{zap.String("site", s.Name), zap.String("host", host)}
	for _, list := range []struct {
		name   string
		routes []string
	}{{"added", added}, {"removed", removed}, {"anonymous", anonymous}, {"undecided", undecided}} {
		fields = append(fields, zap.Int(list.name+"_count", len(list.routes)),
			zap.Strings(list.name, list.routes[:min(len(list.routes), maxListed)]))
	}
	s.logger.Warn("routes changed", fields...)
}

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
