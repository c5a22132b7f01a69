package index

import (
	"runtime"
	"sync"
	"weak"
)

// pool keeps one value for each key as long as somebody uses it.
type pool[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

// get returns the value of a key, and makes it where there is none.
func (p *pool[K, V]) get(key K, build func() *V) *V {
	if v := p.known(key); v != nil {
		return v
	}
	v := build()
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.values[key].Value(); other != nil { // built at the same time
		return other
	}
	if p.values == nil {
		p.values = map[K]weak.Pointer[V]{}
	}
	p.values[key] = weak.Make(v)
	runtime.AddCleanup(v, p.forget, key)
	return v
}

func (p *pool[K, V]) known(key K) *V {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.values[key].Value()
}

// forget drops a key whose value is gone, unless it has a new one.
func (p *pool[K, V]) forget(key K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.values[key].Value() == nil {
		delete(p.values, key)
	}
}
