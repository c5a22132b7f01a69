package call

import (
	"container/heap"
	"container/list"
	"math/bits"
	"net/netip"
)

// waiting are those who wait for room in shares. They stand in lines, one for each holder and
// class of sizes, so that whoever needs little does not wait behind those who need much. Of a line only the
// first is looked at. It waits for the one share that has no room for it, so that what is given
// back is seen by a few lines, however many there are.
type waiting struct {
	lines    map[lineKey]*line
	parked   map[share]map[int]*lines // by class
	arrivals uint64
	looked   int // at lines; tests count what a release takes
}

// share is one of the shares that a Holder has a part in: that of a client, of a site, or of all.
type share struct {
	full   FullError
	site   string
	client netip.Addr
}

// of returns the share of h that is meant by an error.
func (h Holder) of(full FullError) share {
	switch full {
	case errClientFull:
		return share{full: full, client: h.Client}
	case errSiteFull:
		return share{full: full, site: h.Site}
	default:
		return share{full: errAllFull}
	}
}

type waiter struct {
	Holder
	n       int64
	granted chan struct{}
	arrived uint64
	line    *line // nil once it waits no longer
	place   *list.Element
}

type lineKey struct {
	Holder
	class int
}

// line is never empty while it is parked.
type line struct {
	key     lineKey
	waiters list.List
	at      share
	place   int // among those who wait for at
}

// first returns who has waited longest, or nil.
func (l *line) first() *waiter {
	if front := l.waiters.Front(); front != nil {
		return front.Value.(*waiter)
	}
	return nil
}

func newWaiting() waiting {
	return waiting{lines: map[lineKey]*line{}, parked: map[share]map[int]*lines{}}
}

// key is the line of w: sizes of one class differ by less than a factor of two.
func (w *waiter) key() lineKey { return lineKey{w.Holder, bits.Len64(uint64(w.n))} }

// joins puts w behind those of its holder and class, if there are any.
func (q *waiting) joins(w *waiter) bool {
	l := q.lines[w.key()]
	if l == nil {
		return false
	}
	q.arrivals++
	w.line, w.arrived, w.place = l, q.arrivals, l.waiters.PushBack(w)
	return true
}

// open makes a line for w.
func (q *waiting) open(w *waiter) *line {
	l := &line{key: w.key()}
	q.lines[l.key] = l
	q.joins(w)
	return l
}

// leave takes w out of its line. If it was the first, the line is parked no more.
func (q *waiting) leave(w *waiter) {
	l := w.line
	if l.first() == w {
		q.unpark(l)
	}
	l.waiters.Remove(w.place)
	if w.line = nil; l.waiters.Len() == 0 {
		delete(q.lines, l.key)
	}
}

// park lets l wait for a share, and for no other.
func (q *waiting) park(l *line, at share) {
	q.unpark(l)
	classes := q.parked[at]
	if classes == nil {
		classes = map[int]*lines{}
		q.parked[at] = classes
	}
	if classes[l.key.class] == nil {
		classes[l.key.class] = new(lines)
	}
	l.at = at
	heap.Push(classes[l.key.class], l)
}

func (q *waiting) unpark(l *line) {
	classes := q.parked[l.at]
	if all := classes[l.key.class]; all == nil || l.place >= all.Len() || (*all)[l.place] != l {
		return
	} else if heap.Remove(all, l.place); all.Len() > 0 {
		return
	}
	if delete(classes, l.key.class); len(classes) == 0 {
		delete(q.parked, l.at)
	}
}

// firstAt returns the line whose first waiter has waited longest, of the first of each class that
// wait for a share with so much room.
func (q *waiting) firstAt(of share, room int64) (best *line) {
	for _, all := range q.parked[of] {
		q.looked++
		l := (*all)[0]
		if w := l.first(); w.n <= room && (best == nil || w.arrived < best.first().arrived) {
			best = l
		}
	}
	return best
}

// lines is a heap of lines, by the arrival of their first.
type lines []*line

// Len implements heap.Interface.
func (h lines) Len() int { return len(h) }

// Less implements heap.Interface.
func (h lines) Less(i, j int) bool { return h[i].first().arrived < h[j].first().arrived }

// Swap implements heap.Interface.
func (h lines) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *lines) Push(l any) {
	l.(*line).place = len(*h)
	*h = append(*h, l.(*line))
}

// Pop implements heap.Interface.
func (h *lines) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last], *h = nil, (*h)[:last]
	return l
}
