package caller

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// flights are the questions about callers that have no answer yet, each once for all who ask at
// the same time.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

// flight is one such question.
type flight struct {
	key     string
	waiting int  // requests that wait for the answer
	over    bool // the time is over in which nobody has to wait
	end     context.CancelCauseFunc

	done chan struct{} // closed once who or err is known
	who  identity
	err  error
}

// join returns the flight under key, and lets run begin it where there is none. With waits,
// the caller must leave it. A flight outlives the request that began it: it ends when nobody
// waits, but not before limit.
func (fs *flights) join(ctx context.Context, key string, waits bool, limit time.Duration, run func(context.Context) (identity, error)) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.all[key]
	if f == nil {
		f = &flight{key: key, done: make(chan struct{})}
		ctx, f.end = context.WithCancelCause(context.WithoutCancel(ctx))
		if fs.all == nil {
			fs.all = map[string]*flight{}
		}
		fs.all[key] = f
		timer := time.AfterFunc(limit, func() { fs.change(f, func() { f.over = true }) })
		go func() {
			defer timer.Stop()
			defer f.end(nil)
			f.who, f.err = run(ctx)
			fs.change(f, func() { fs.forget(f) })
			close(f.done)
		}()
	}
	if waits {
		f.waiting++
	}
	return f
}

// leave says that a request no longer waits for f.
func (fs *flights) leave(f *flight) { fs.change(f, func() { f.waiting-- }) }

// change changes f, and ends it if nobody needs it any longer. Whoever asks after that begins
// a flight of their own.
func (fs *flights) change(f *flight, by func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	by()
	if f.over && f.waiting == 0 {
		fs.forget(f)
		f.end(context.DeadlineExceeded)
	}
}

func (fs *flights) forget(f *flight) {
	if fs.all[f.key] == f {
		delete(fs.all, f.key)
	}
}

// underWay marks the context of a question. What a question itself causes on its way, such
// as the question of a second directive on the same route, could otherwise wait for it.
type underWay struct{}

// begin waits in order until a question of h may be under way, or ctx ends; a question that nobody needs at
// once does not wait. The caller calls ended after the answer. The returned context is for the question. It ends
// with ctx: a question has no time of its own. After Options.Timeout it makes room for others and counts
// among the late ones. Where these have no room either, it ends.
func (ids *Identities) begin(ctx context.Context, h budget.Holder, waits bool) (question context.Context, ended func(), err error) {
	if ctx.Value(underWay{}) != nil {
		return ctx, func() {}, nil
	}
	h.Site = cmp.Or(h.Site, ids.opts.Site)
	if waits {
		err = ids.opts.InFlight.Wait(ctx, h, 1)
	} else {
		err = ids.opts.InFlight.Try(h, 1)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: too many questions under way: %w", ask.ErrUndecided, err)
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, underWay{}, true))
	at := &seat{in: ids.opts.InFlight, holder: h}
	timer := time.AfterFunc(ids.opts.Timeout, func() {
		if ctx.Err() == nil && !at.move(ids.opts.Late) {
			cancel(context.DeadlineExceeded)
		}
	})
	return ctx, func() {
		timer.Stop()
		cancel(nil)
		at.leave()
	}, nil
}

// seat is where a question that is under way counts.
type seat struct {
	mu     sync.Mutex
	in     *budget.Shares // nil once the question has ended
	holder budget.Holder
}

// move lets the question count among others. It returns false if they have no room.
func (p *seat) move(to *budget.Shares) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in == nil {
		return true
	}
	if to.Try(p.holder, 1) != nil {
		return false
	}
	p.in.Free(p.holder, 1)
	p.in = to
	return true
}

func (p *seat) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in.Free(p.holder, 1)
	p.in = nil
}
