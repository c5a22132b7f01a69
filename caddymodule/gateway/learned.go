package gateway

import (
	"crypto/sha256"
	"sync"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/hosts"
)

// learned is what readings have shown of the REST roots of a site. Each host has its own, since each
// may be another shop. It outlives a reload that changes no byte of what leads to the site.
type learned struct {
	hosts hosts.Table[*hostRoot]
	roots discover.Roots
	pauses

	mu              sync.Mutex     // held while the end of a reading changes what is known, and guards what follows
	problems        map[string]int // the number of hosts that have a problem, by its code
	spelled, others warnings       // of hosts as isSpelled tells them apart
}

// learnedKey is what a site must have in common with that of before a reload: also its base, the names
// of its platform, and its whole route with the directive and the upstreams.
type learnedKey struct {
	name, server, before, named string
	errors                      bool
	routes                      [sha256.Size]byte
}

// learnedOf returns what is known of the site on a way; nothing where nobody can tell whether it is the
// same.
func (s *site) learnedOf(way *routing.Way, before string) *learned {
	fresh := func() (*learned, error) { return &learned{problems: map[string]int{}}, nil }
	routes, ok := s.g.app.texts[way.Server].Of(way.Hosts)
	if !ok || !s.learns {
		known, _ := fresh()
		return known
	}
	known, _ := pool.Lease(&s.leases, learnedKey{s.Name, s.Server, before, way.Named, way.Errors, routes}, fresh)
	known.mu.Lock()
	defer known.mu.Unlock()
	for code, hosts := range known.problems {
		s.metrics.Misfits(s.Name, code, hosts)
	}
	return known
}
