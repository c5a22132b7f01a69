package caddymodule

import (
	"sync"
	"time"
)

// readingsAtOnce bounds the readings of REST roots in this process, so that the start of a
// thousand sites is no storm for what they share.
const readingsAtOnce = 2

// readings are the sites that wait for a reading. A site waits once, and no goroutine
// waits for it.
var readings readingQueue

type readingQueue struct {
	mu      sync.Mutex
	waiting []*discovery
	workers int
}

func (q *readingQueue) add(d *discovery) {
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

func (q *readingQueue) next() *discovery {
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
