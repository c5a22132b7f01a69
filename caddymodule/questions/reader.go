package questions

import (
	"context"
	"sync"
	"sync/atomic"
)

// readingsAtOnce bounds the readings of REST roots and plain pages in this process, so that
// the start of a thousand sites is no storm for what they share.
const readingsAtOnce = 2

// readings are the sites that wait for a reading. A site waits once, and no goroutine
// waits for it.
var readings readingQueue

type readingQueue struct {
	mu      sync.Mutex
	waiting []*Reader
	workers int
}

func (q *readingQueue) add(r *Reader) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	if q.workers < readingsAtOnce {
		q.workers++
		go q.work()
	}
}

// work reads until no site waits.
func (q *readingQueue) work() {
	for r := q.next(); r != nil; r = q.next() {
		r.read()
	}
}

func (q *readingQueue) next() *Reader {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.workers--
		q.waiting = nil
		return nil
	}
	r := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return r
}

// Reader reads something of one site in the background, in its turn. It has one reading at a
// time.
type Reader struct {
	busy atomic.Bool

	mu      sync.Mutex            // guards what follows
	pending func(context.Context) // the reading that waits
	ended   chan struct{}         // closed when the reading that waits or runs has ended; nil before the first
	stopped bool
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// Open makes the reader ready.
func (r *Reader) Open() { r.ctx, r.cancel = context.WithCancel(context.Background()) }

// Busy tells whether a reading waits or runs.
func (r *Reader) Busy() bool { return r.busy.Load() }

// Start lets read wait for its turn, unless another reading waits or runs. The context of read has
// the values of a request, which it outlives, and ends with the reader.
func (r *Reader) Start(values context.Context, read func(context.Context)) {
	if !r.busy.CompareAndSwap(false, true) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	values = context.WithoutCancel(values)
	r.pending = func(stop context.Context) {
		ctx, cancel := context.WithCancel(values)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		read(ctx)
	}
	r.ended = make(chan struct{})
	readings.add(r)
}

// Ended returns what is closed when the reading that waits or runs has ended; nil before the
// first.
func (r *Reader) Ended() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// read runs the reading that waits, unless the site is gone.
func (r *Reader) read() {
	r.mu.Lock()
	read := r.pending
	if r.pending = nil; r.stopped || read == nil {
		r.mu.Unlock()
		return
	}
	r.running.Add(1)
	ended := r.ended
	r.mu.Unlock()
	defer r.running.Done()
	defer close(ended)
	defer r.busy.Store(false)
	read(r.ctx)
}

// Stop ends the reading and waits for it. A reading that waits is dropped, and none starts any more.
func (r *Reader) Stop() {
	r.mu.Lock()
	if r.pending != nil {
		close(r.ended)
	}
	r.stopped, r.pending = true, nil
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
}
