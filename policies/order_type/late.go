package ordertype

import (
	"context"
	"sync"
	"time"
)

// lateAtOnce is how many answers may wait for a slow store. The proofs of further ones are
// lost, which only costs questions.
const lateAtOnce = 16

// proofStore is what proofs need of a store.Store.
type proofStore interface {
	SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error
	Delete(ctx context.Context, keys ...string) error
}

// lateProofs are the proofs on their way to the store. They count at once, so that the client
// who has just read a list need not wait for the store, nor the gateway ask. The zero value
// has none.
type lateProofs struct {
	mu    sync.Mutex
	keys  map[string]int // how many answers bring it
	under int            // answers under way
	ended uint64         // how often proofs have been forgotten
}

// moment is when a call was sent on. Its answer shows what was true then, however long a slow
// client takes to read it.
type moment struct {
	at    time.Time
	ended uint64 // as lateProofs.ended
}

func (l *lateProofs) now() moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return moment{time.Now(), l.ended}
}

// keep puts proofs into the store, in the background, unless one has been forgotten since.
func (l *lateProofs) keep(s proofStore, since moment, keys []string) {
	left := proofTTL - time.Since(since.at)
	if left <= 0 || !l.add(since.ended, keys) {
		return
	}
	go func() {
		ctx := context.Background() // the store has its own deadline
		_ = s.SetAll(ctx, "1", left, keys...)
		if ended := l.done(keys); len(ended) > 0 {
			_ = s.Delete(ctx, ended...)
		}
	}()
}

func (l *lateProofs) add(ended uint64, keys []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under == lateAtOnce || l.ended != ended {
		return false
	}
	if l.keys == nil {
		l.keys = map[string]int{}
	}
	l.under++
	for _, key := range keys {
		l.keys[key]++
	}
	return true
}

// done ends the way of keys, and returns those that have been forgotten meanwhile.
func (l *lateProofs) done(keys []string) (forgotten []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under--
	for _, key := range keys {
		switch l.keys[key] {
		case 0:
			forgotten = append(forgotten, key)
		case 1:
			delete(l.keys, key)
		default:
			l.keys[key]--
		}
	}
	return forgotten
}

// has tells whether a proof is on its way.
func (l *lateProofs) has(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[key] > 0
}

// forget drops proofs that are on their way, and keeps away those of answers that are being
// read: any of them may have been asked for before.
func (l *lateProofs) forget(keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	for _, key := range keys {
		delete(l.keys, key)
	}
}
