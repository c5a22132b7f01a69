package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/hosts"
)

// rootRead is a REST root, or why there is none.
type rootRead struct {
	root *siteroot.Root
	err  error
}

// maxAhead is how many REST roots are read and kept ahead of their reports.
const maxAhead = 4

// readAhead reads the roots of the sites, each once and in their order, until ctx ends. next waits for the next one, and end until nothing
// is read any more.
func (s *several) readAhead(ctx context.Context) (next func() rootRead, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	queue := make(chan chan rootRead, maxAhead-1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(queue)
		for _, t := range s.targets {
			one := make(chan rootRead, 1)
			select {
			case queue <- one:
			case <-ctx.Done():
				return
			}
			reading.Go(func() { one <- s.readRoot(ctx, &t) })
		}
	})
	next = func() rootRead {
		one, ok := <-queue
		if !ok {
			return rootRead{err: ctx.Err()}
		}
		return <-one
	}
	return next, func() { cancel(); reading.Wait() }
}

// readRoot reads the root of a site where the gateway itself asks for it, behind the directive; and at the site's own address where the
// configuration has nothing there that can be asked.
func (s *several) readRoot(ctx context.Context, t *target) rootRead {
	if t.why != "" {
		return rootRead{err: errors.New(t.why)}
	}
	prefix := cmp.Or(s.prefix, t.Prefix)
	root, err := siteroot.FetchThrough(ctx, s.config.Behind(t.ServedSite), t.Address, prefix, nil)
	if !errors.Is(err, dryrun.ErrNothingBehind) {
		return rootRead{root, err}
	}
	root, public := siteroot.Fetch(ctx, t.Address, prefix, nil)
	switch {
	case public != nil:
		return rootRead{err: fmt.Errorf("%w; and %w", err, public)}
	case !t.serves(root.Address):
		return rootRead{err: fmt.Errorf("%s redirects to %s, which is not the site's", t.Address, shownAddress(root.Address))}
	}
	return rootRead{root: root}
}

// serves tells whether an address is one of the site's.
func (t *target) serves(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (len(t.Policies.Hosts) == 0 || slices.ContainsFunc(t.Policies.Hosts, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(u.Host)) }))
}
