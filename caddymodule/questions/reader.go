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

func (q *readingQueue) add(d *Reader) {
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

func (q *readingQueue) next() *Reader {
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
func (d *Reader) Open() { d.ctx, d.cancel = context.WithCancel(context.Background()) }

// Busy tells whether a reading waits or runs.
func (d *Reader) Busy() bool { return d.busy.Load() }

// Start lets read wait for its turn, unless another reading waits or runs. The context of read has
// the values of a request, which it outlives, and ends with the reader.
func (d *Reader) Start(values context.Context, read func(context.Context)) {
	if !d.busy.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	values = context.WithoutCancel(values)
	d.pending = func(stop context.Context) {
		ctx, cancel := context.WithCancel(values)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		read(ctx)
	}
	d.ended = make(chan struct{})
	readings.add(d)
}

// Ended returns what is closed when the reading that waits or runs has ended; nil before the
// first.
func (d *Reader) Ended() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// read runs the reading that waits, unless the site is gone.
func (d *Reader) read() {
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

// Stop ends the reading and waits for it. A reading that waits is dropped, and none starts any more.
func (d *Reader) Stop() {
	d.mu.Lock()
	if d.pending != nil {
		close(d.ended)
	}
	d.stopped, d.pending = true, nil
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}
