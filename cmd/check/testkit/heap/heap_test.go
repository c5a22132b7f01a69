package heap_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
)

// TestLive: what is held counts, and what only a pool or a cleanup holds does not.
func TestLive(t *testing.T) {
	const size = 4 << 20
	before := heap.Live()
	held := make([]byte, size)
	if grown := heap.Live() - before; grown < size-size/16 || grown > size+size/4 {
		t.Errorf("%d bytes for %d", grown, size)
	}
	runtime.KeepAlive(held)
	pool := sync.Pool{}
	pool.Put(new([size]byte))
	first, second := new([16]byte), new([size]byte)
	runtime.AddCleanup(first, func(*[size]byte) {}, second)
	if grown := heap.Live() - before; grown > size/4 {
		t.Errorf("%d bytes that nobody holds", grown)
	}
	runtime.KeepAlive(&pool)
}
