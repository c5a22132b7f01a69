// Package hosts keeps something for each host that one site answers for. One directive may
// serve many hosts, and a client may send any: what is kept is bounded.
package hosts

import (
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Table surely keeps the last hosts that were used, up to Bound of them and Bytes for all
// their values. It never keeps more than twice as many, or as much, but for one value that is
// larger by itself.
const (
	Bound = 1024
	Bytes = 16 << 20
)

// Sized is a value that may take more than some hundred bytes.
type Sized interface {
	// Parts calls f for each part of the value with the bytes that it takes. Equal parts are
	// what values share; they count once.
	Parts(f func(part any, bytes int))
}

// maxHost bounds the length of a host that is kept.
const maxHost = 300

// Table keeps a value for each host, in the spelling that was sent, since another spelling
// may be another shop. What was not used for long makes room. The zero value is ready. It
// may be used by several goroutines.
type Table[V any] struct {
	last atomic.Pointer[entry[V]] // most sites have one host

	mu         sync.Mutex
	young, old generation[V] // what is used in old becomes young again
}

// generation holds the hosts that were used in one span of time.
type generation[V any] struct {
	entries map[string]*entry[V]
	parts   map[any]struct{} // counted in bytes; also those of values that were replaced
	bytes   int
}

type entry[V any] struct {
	host  string
	value V
}

// Get returns the value of a host. ok is false where there is none.
func (t *Table[V]) Get(host string) (v V, ok bool) {
	if e := t.last.Load(); e != nil && e.host == host {
		return e.value, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.find(host)
	if e == nil {
		return v, false
	}
	t.last.Store(e)
	return e.value, true
}

// Put keeps v for a host, unless no server would answer to such a name.
func (t *Table[V]) Put(host string, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(host, v)
}

// GetOrPut returns the value of a host, or keeps and returns a new one.
func (t *Table[V]) GetOrPut(host string, build func() V) V {
	if v, ok := t.Get(host); ok {
		return v
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(host); e != nil {
		return e.value
	}
	v := build()
	t.put(host, v)
	return v
}

func (t *Table[V]) put(host string, v V) {
	if len(host) > maxHost {
		return
	}
	e := &entry[V]{strings.Clone(host), v}
	delete(t.old.entries, host)
	t.add(e)
	t.last.Store(e)
}

// find returns the entry of a host, which is then a young one.
func (t *Table[V]) find(host string) *entry[V] {
	if e := t.young.entries[host]; e != nil {
		return e
	}
	e := t.old.entries[host]
	if e != nil {
		delete(t.old.entries, host)
		t.add(e)
	}
	return e
}

func (t *Table[V]) add(e *entry[V]) {
	_, known := t.young.entries[e.host]
	if !known && len(t.young.entries) >= Bound || len(t.young.entries) > 0 && t.young.bytes+t.young.more(e.value) > Bytes {
		t.young, t.old = generation[V]{}, t.young
		delete(t.old.entries, e.host)
	}
	t.young.add(e)
}

// more returns the bytes that a value would add.
func (g *generation[V]) more(v V) (bytes int) {
	if s, ok := any(v).(Sized); ok {
		s.Parts(func(part any, size int) {
			if _, counted := g.parts[part]; !counted {
				bytes += size
			}
		})
	}
	return bytes
}

func (g *generation[V]) add(e *entry[V]) {
	if g.entries == nil {
		g.entries = map[string]*entry[V]{}
	}
	g.entries[e.host] = e
	s, ok := any(e.value).(Sized)
	if !ok {
		return
	}
	g.bytes += g.more(e.value)
	if g.parts == nil {
		g.parts = map[any]struct{}{}
	}
	s.Parts(func(part any, _ int) { g.parts[part] = struct{}{} })
}

// Each calls f for every value.
func (t *Table[V]) Each(f func(host string, v V)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range []*generation[V]{&t.old, &t.young} {
		for host, e := range g.entries {
			f(host, e.value)
		}
	}
}

// Name returns a host without its port.
func Name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// Fits tells whether a host fits a pattern as Caddy matches hosts: "*" stands for one
// label.
func Fits(pattern, host string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.EqualFold(pattern, host)
	}
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(host, "."), func(pattern, label string) bool {
		return pattern == "*" || strings.EqualFold(pattern, label)
	})
}
