package budget

import (
	"cmp"
	"container/list"
	"math/bits"
	"net/netip"
	"slices"
)

// waiting are those who wait for room in shares. They stand in lines, one for each holder and
// class of sizes, so that whoever needs little does not wait behind those who need much. Of a line
// only the first is looked at.
//
// A line stands in the group of its site and class, unless its client's share has no room for it.
// Of a group only the first line is looked at. A group waits for the share of its site, or else
// among the groups of its class for the share of all. So a change of a share moves the lines of one
// client and the groups of one site, however many wait, and whoever is first among the groups needs
// no room but in the share of all.
type waiting struct {
	lines    map[lineKey]*line
	clients  map[netip.Addr][]*line
	sites    map[string][]*group
	all      [65]queue[*group]       // by class: those that wait for the share of all
	room     func(site string) int64 // what is left of a site's share
	arrivals uint64
	// looked are looks at lines and groups, served who got room: tests count what a release takes.
	looked, served int
}

func newWaiting(room func(site string) int64) waiting {
	return waiting{lines: map[lineKey]*line{}, clients: map[netip.Addr][]*line{}, sites: map[string][]*group{}, room: room}
}

type waiter struct {
	Holder
	n       int64
	granted chan struct{}
	arrived uint64
	line    *line // nil once it waits no longer
	place   *list.Element
}

// key is the line of w: sizes of one class differ by less than a factor of two.
func (w *waiter) key() lineKey { return lineKey{w.Holder, bits.Len64(uint64(w.n))} }

type lineKey struct {
	Holder
	class int
}

// line is never empty, but while its last waiter leaves.
type line struct {
	key     lineKey
	waiters list.List
	since   uint64 // when its first arrived
	group   *group // nil while it waits for its client's share
	place   int    // in the group
}

// first returns who has waited longest.
func (l *line) first() *waiter { return l.waiters.Front().Value.(*waiter) }

func (l *line) moved(to int) { l.place = to }

// joins puts w behind those of its holder and class, if there are any.
func (q *waiting) joins(w *waiter) bool {
	l := q.lines[w.key()]
	if l == nil {
		return false
	}
	q.push(l, w)
	return true
}

func (q *waiting) push(l *line, w *waiter) {
	q.arrivals++
	w.line, w.arrived, w.place = l, q.arrivals, l.waiters.PushBack(w)
}

// open makes a line for w, to be settled.
func (q *waiting) open(w *waiter) {
	l := &line{key: w.key()}
	q.lines[l.key] = l
	q.push(l, w)
	l.since = w.arrived
	if w.Client.IsValid() {
		q.clients[w.Client] = append(q.clients[w.Client], l)
	} else {
		q.enter(l)
	}
}

// leave takes w out of its line, to be settled.
func (q *waiting) leave(w *waiter) {
	l := w.line
	w.line = nil
	if l.waiters.Remove(w.place); l.waiters.Len() == 0 {
		q.close(l)
		return
	}
	if l.since = l.first().arrived; l.group != nil {
		l.group.lines.fix(l.place, l.since)
	}
}

// close removes a line that is empty.
func (q *waiting) close(l *line) {
	q.exit(l)
	delete(q.lines, l.key)
	if client := l.key.Client; client.IsValid() {
		remove(q.clients, client, l)
	}
}

// remove takes what is there out of a map's slice.
func remove[K, V comparable](from map[K][]V, key K, what V) {
	all := from[key]
	if at := slices.Index(all, what); len(all) > 1 {
		from[key] = slices.Delete(all, at, at+1)
	} else {
		delete(from, key)
	}
}

// regroup lets the lines of a client stand in their groups while the client's share has room for
// them, and the groups of a site wait for the share that lacks it. A line that waits for its
// client's share holds up those of its class that have come later.
func (q *waiting) regroup(h Holder, room int64) {
	held := uint64(0) // classes
	lines := q.clients[h.Client]
	slices.SortFunc(lines, func(a, b *line) int { return cmp.Compare(a.since, b.since) })
	for _, l := range lines {
		q.looked++
		class := uint64(1) << l.key.class
		if l.first().n > room {
			held |= class
		}
		if held&class != 0 {
			q.exit(l)
		} else {
			q.enter(l)
		}
	}
	for _, g := range q.sites[h.Site] {
		q.park(g)
	}
}

// next returns who has waited longest of the first of each class, if its group waits for the
// share of all, and that has room.
func (q *waiting) next(room int64) (best *waiter) {
	if len(q.lines) == 0 {
		return nil
	}
	for _, groups := range &q.all {
		if len(groups) == 0 {
			continue
		}
		q.looked++
		if w := groups[0].who.first(); w.n <= room && (best == nil || w.arrived < best.arrived) {
			best = w
		}
	}
	return best
}
