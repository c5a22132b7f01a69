package gateway

import (
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
)

// hostRoot is what is known of the REST root of one host.
type hostRoot struct {
	due       atomic.Int64           // nanoseconds since 1970
	home      atomic.Pointer[string] // the site's home address; nil if no root was read
	index     atomic.Pointer[index.Index]
	outside   atomic.Bool // a problem was found for a request outside of the base
	queryOnly atomic.Bool // the pretty form has no root, and no pretty call has come since
	byClient  atomic.Bool // the next reading comes from the address of a client, since one of the gateway's own has found no root
	spelled   bool        // the configuration names the host, see isSpelled
	found     bool        // some reading has found a root
	failures  int         // readings since that failed or found a problem, one after the other
	problems  []discover.Problem
}

// learn keeps what a root says. A pointer into the root would keep all of it.
func (h *hostRoot) learn(root *discover.Root) {
	home := root.Home
	h.home.Store(&home)
	h.index.Store(root.Index)
}

// hostRootBytes is what a hostRoot takes beside its index, with a long address and problems.
const hostRootBytes = 4 << 10

// Parts implements hosts.Sized. The index counts, so that a host is forgotten, and its root
// read anew, no later than the index.
func (h *hostRoot) Parts(f func(part any, bytes int)) {
	f(h, hostRootBytes)
	h.index.Load().Parts(f)
}
