package gateway

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/store"
)

// readingsAtOnce bounds the readings of REST roots and plain pages in this process, so that
// the start of a thousand sites is no storm for what they share.
const readingsAtOnce = 2

// readings are the sites that wait for a reading. A site waits once, and no goroutine
// waits for it.
var readings readingQueue

type readingQueue struct {
	mu      sync.Mutex
	waiting []*siteReader
	workers int
}

func (q *readingQueue) add(d *siteReader) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, d)
	if q.workers < readingsAtOnce {
		q.workers++
		go q.work()
	}
}

// work reads until no site waits.
func (q *readingQueue) work() {
	for d := q.next(); d != nil; d = q.next() {
		d.read()
	}
}

func (q *readingQueue) next() *siteReader {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.workers--
		q.waiting = nil
		return nil
	}
	d := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return d
}

// jittered returns d, a tenth more or less.
func jittered(d time.Duration, random float64) time.Duration {
	return d*9/10 + time.Duration(random*float64(d)/5)
}

// siteReader reads something of one site in the background, in its turn. It has one reading at a
// time.
type siteReader struct {
	busy atomic.Bool // a reading waits or runs
	// When a host in another spelling than the configuration's may be read, for the first time and
	// again.
	unnamed, renewed atomic.Int64

	mu      sync.Mutex            // guards what follows
	pending func(context.Context) // the reading that waits
	ended   chan struct{}         // closed when the reading that waits or runs has ended; nil before the first
	stopped bool
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// open makes the reader ready.
func (d *siteReader) open() { d.ctx, d.cancel = context.WithCancel(context.Background()) }

// mayLearn tells whether the host of r may be read now. All spellings but the configuration's
// share one pause: a client may send any number of them. Those that are known have another one, and
// one address takes only a part of the readings, so that honest hosts have theirs.
func (d *siteReader) mayLearn(s *site, r *http.Request, known bool, now int64) bool {
	if s.isSpelled(r) {
		return true
	}
	pause := &d.unnamed
	if known {
		pause = &d.renewed
	}
	after := pause.Load()
	if after > now {
		return false
	}
	if address := peerOf(r, varsOf(r)).share(r); !known && address.IsValid() && !newHosts().Allow(s.Name+" "+caller.AddressKey(address)) {
		return false
	}
	return pause.CompareAndSwap(after, now+int64(discoverNew))
}

// newHostsRate is how many unknown hosts of a site the gateway reads for one client's address.
var newHostsRate = store.Rate{Count: 12, Per: time.Minute}

// newHosts counts these readings in this process.
var newHosts = sync.OnceValue(func() *store.Limiter {
	limit, err := store.NewLimiter(newHostsRate)
	if err != nil {
		panic(err) // the rate is a constant
	}
	return limit
})

// start lets read wait for its turn, unless another reading waits or runs. read gets the values
// of a request, and a backend that outlives it. Nobody waits for the answers, so that each
// question has its time.
func (d *siteReader) start(values context.Context, s *site, detached ask.Backend, read func(context.Context, ask.Backend)) {
	if !d.busy.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	values = context.WithoutCancel(values)
	detached = ask.Traced(questions.Timed{Backend: detached, Timeout: s.questions.Timeout}, &s.trace.Questions)
	d.pending = func(stop context.Context) {
		ctx, cancel := context.WithCancel(values)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		read(ctx, detached)
	}
	d.ended = make(chan struct{})
	readings.add(d)
}

// end returns what is closed when the reading that waits or runs has ended; nil before the
// first.
func (d *siteReader) end() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// read runs the reading that waits, unless the site is gone.
func (d *siteReader) read() {
	d.mu.Lock()
	read := d.pending
	if d.pending = nil; d.stopped || read == nil {
		d.mu.Unlock()
		return
	}
	d.running.Add(1)
	ended := d.ended
	d.mu.Unlock()
	defer d.running.Done()
	defer close(ended)
	defer d.busy.Store(false)
	read(d.ctx)
}

// stop ends the reading and waits for it. A reading that waits is dropped.
func (d *siteReader) stop() {
	d.mu.Lock()
	if d.pending != nil {
		close(d.ended)
	}
	d.stopped, d.pending = true, nil
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}
