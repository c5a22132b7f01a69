package budget

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// modelShares is what Shares are to do, said without an index: after each change it looks at everybody.
type modelShares struct {
	*Shares            // the limit and what is held; nobody waits in it
	waits   []*modeled // in order of arrival
	granted []*modeled // in order, by the last operation
}

type modeled struct {
	Holder
	n    int64
	real *waiter
}

func (w *modeled) class() int { return bits.Len64(uint64(w.n)) }

// next returns who is to be served: of the first of each line, those whom their client's share does
// not hold up, nor one before them there; of these the first of each site and class, if the site has
// room; of these the first of each class, if there is room.
func (m *modelShares) next() int {
	type place struct {
		of    any
		class int
	}
	behind := map[place]bool{}
	first := func(of any, class int) bool {
		p := place{of, class}
		was := behind[p]
		behind[p] = true
		return !was
	}
	for i, w := range m.waits {
		if !first(w.Holder, w.class()) || behind[place{w.Client, w.class()}] {
			continue
		}
		if w.Client.IsValid() && m.clients[w.Client]+w.n > m.limit/8 {
			first(w.Client, w.class())
			continue
		}
		if !first(w.Site, w.class()) || m.sites[w.Site]+w.n > m.limit/4 || !first(nil, w.class()) {
			continue
		}
		if m.used+w.n <= m.limit {
			return i
		}
	}
	return -1
}

func (m *modelShares) serve() {
	for i := m.next(); i >= 0; i = m.next() {
		w := m.waits[i]
		m.waits = slices.Delete(m.waits, i, i+1)
		m.add(w.Holder, w.n)
		m.granted = append(m.granted, w)
	}
}

// enter reports whether w got its room at once.
func (m *modelShares) enter(w *modeled) bool {
	joins := slices.ContainsFunc(m.waits, func(o *modeled) bool { return o.Holder == w.Holder && o.class() == w.class() })
	if joins || m.take(w.Holder, w.n) != nil {
		m.waits = append(m.waits, w)
		return false
	}
	m.serve()
	return true
}

// giveUp reports whether w got its room nevertheless.
func (m *modelShares) giveUp(w *modeled) bool {
	m.waits = slices.DeleteFunc(m.waits, func(o *modeled) bool { return o == w })
	got := m.take(w.Holder, w.n) == nil
	m.serve()
	return got
}

// modelRun is one run of Shares beside its model.
type modelRun struct {
	tb    testing.TB
	rand  *rand.Rand
	s     *Shares
	model modelShares
	held  []*modeled
}

// TestShares_Model: random calls that take, wait, give up and give back are served as the model
// serves them, so nobody waits who has room, and nothing is left in the end.
func TestShares_Model(t *testing.T) {
	for seed := range uint64(120) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			limit := []int64{32, 64, 128}[seed%3]
			r := modelRun{tb: t, rand: rand.New(rand.NewPCG(seed, 1)), s: NewShares(limit), model: modelShares{Shares: NewShares(limit)}}
			for range 600 {
				r.step()
				r.compare()
			}
			for len(r.held) > 0 {
				r.free()
				r.compare()
			}
			if len(r.model.waits) > 0 {
				t.Errorf("%d wait for ever", len(r.model.waits))
			}
			nothingLeft(t, r.s)
		})
	}
}

func (r *modelRun) step() {
	switch n := r.rand.IntN(10); {
	case n < 5:
		r.enter()
	case n < 6 && len(r.model.waits) > 0:
		w := r.model.waits[r.rand.IntN(len(r.model.waits))]
		if got := r.s.giveUp(w.real) == nil; got != r.model.giveUp(w) {
			r.tb.Fatalf("%v gives up: served is %v", w, got)
		} else if got {
			r.held = append(r.held, w)
		}
	case len(r.held) > 0:
		r.free()
	}
}

// enter lets somebody come who waits, or tries and goes.
func (r *modelRun) enter() {
	h := Holder{Site: fmt.Sprint(r.rand.IntN(8))}
	if r.rand.IntN(5) > 0 {
		h.Client = client(r.rand.IntN(8))
	}
	w := &modeled{Holder: h, n: 1 + r.rand.Int64N(r.s.Of(h))}
	if r.rand.IntN(3) == 0 {
		w.n = 1 + w.n/4
	}
	var got bool
	if r.rand.IntN(3) == 0 {
		got = r.s.Try(h, w.n) == nil
		if want := r.model.take(h, w.n) == nil; got != want {
			r.tb.Fatalf("%v tries: %v", w, got)
		}
		r.model.serve()
	} else {
		w.real, _ = r.s.enter(h, w.n)
		if got = w.real == nil; got != r.model.enter(w) {
			r.tb.Fatalf("%v enters: served is %v", w, got)
		}
	}
	if got {
		r.held = append(r.held, w)
	}
}

// free gives back all or a part of what somebody holds.
func (r *modelRun) free() {
	i := r.rand.IntN(len(r.held))
	w := r.held[i]
	n := 1 + r.rand.Int64N(w.n)
	if w.n -= n; w.n == 0 {
		r.held = slices.Delete(r.held, i, i+1)
	}
	r.s.Free(w.Holder, n)
	r.model.add(w.Holder, -n)
	r.model.serve()
}

// compare checks who has been served.
func (r *modelRun) compare() {
	for _, w := range r.model.granted {
		if !granted(w.real) {
			r.tb.Fatalf("%v has room and waits", w)
		}
	}
	for _, w := range r.model.waits {
		if granted(w.real) {
			r.tb.Fatalf("%v is served before its turn", w)
		}
	}
	r.held, r.model.granted = append(r.held, r.model.granted...), nil
	if r.s.used != r.model.used {
		r.tb.Fatalf("%d are held, want %d", r.s.used, r.model.used)
	}
}
