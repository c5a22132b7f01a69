package budget

import (
	"container/heap"
	"slices"
)

// group are the lines of one site and class whose clients' shares have room. It waits as one, so
// that a site's share that fills up or empties moves one group and not all of its lines.
type group struct {
	site  string
	class int
	lines queue[*line] // never empty, but while its last line leaves
	ready bool         // waits for the share of all, not for that of its site
	place int          // among those that wait for the share of all
}

// first returns who has waited longest.
func (g *group) first() *waiter { return g.lines[0].who.first() }

func (g *group) moved(to int) { g.place = to }

// enter lets l stand in its group. It may have come before those that stand there.
func (q *waiting) enter(l *line) {
	if l.group != nil {
		return
	}
	groups := q.sites[l.key.Site]
	if at := slices.IndexFunc(groups, func(g *group) bool { return g.class == l.key.class }); at >= 0 {
		l.group = groups[at]
	} else {
		l.group = &group{site: l.key.Site, class: l.key.class}
		q.sites[l.key.Site] = append(groups, l.group)
	}
	l.group.lines.push(l.since, l)
	q.park(l.group)
}

// exit takes l out of its group. A group that is empty then is gone.
func (q *waiting) exit(l *line) {
	g := l.group
	if g == nil {
		return
	}
	heap.Remove(&g.lines, l.place)
	l.group = nil
	q.park(g)
	if len(g.lines) == 0 {
		remove(q.sites, g.site, g)
	}
}

// park lets g wait for the share of its site, or for that of all where the site's has room.
func (q *waiting) park(g *group) {
	q.looked++
	all := &q.all[g.class]
	was := g.ready
	g.ready = len(g.lines) > 0 && g.first().n <= q.room(g.site)
	switch {
	case was && g.ready:
		all.fix(g.place, g.lines[0].since)
	case was:
		heap.Remove(all, g.place)
	case g.ready:
		all.push(g.lines[0].since, g)
	}
}

// queue is a heap of those who wait, by arrival of their first. It knows the arrivals itself, since
// those who wait are spread over memory.
type queue[T interface{ moved(to int) }] []queued[T]

type queued[T any] struct {
	since uint64
	who   T
}

func (h *queue[T]) push(since uint64, who T) {
	*h = append(*h, queued[T]{since, who})
	who.moved(len(*h) - 1)
	heap.Fix(h, len(*h)-1)
}

func (h *queue[T]) fix(at int, since uint64) {
	if (*h)[at].since != since {
		(*h)[at].since = since
		heap.Fix(h, at)
	}
}

// Len implements heap.Interface.
func (h queue[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h queue[T]) Less(i, j int) bool { return h[i].since < h[j].since }

// Swap implements heap.Interface.
func (h queue[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].who.moved(i)
	h[j].who.moved(j)
}

// Push implements heap.Interface, for push, which does without.
func (h *queue[T]) Push(any) {}

// Pop implements heap.Interface, for heap.Remove.
func (h *queue[T]) Pop() any {
	last := len(*h) - 1
	(*h)[last] = queued[T]{}
	*h = (*h)[:last]
	return nil
}
