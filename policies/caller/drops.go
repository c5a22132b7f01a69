package caller

import "sync"

// keptDrops bounds the drops that are remembered. Users who end their own rights all the time
// keep no answer about others out of memory, unless they do so this often during one question.
const keptDrops = 256

// drops counts the drops of a cache and remembers the last ones.
type drops struct {
	mu   sync.Mutex
	n    uint64
	last []func(identityEntry) bool // up to keptDrops; that of epoch i is at i % keptDrops
}

// epoch returns how many drops there have been.
func (d *drops) epoch() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// add counts a drop of the entries for which gone returns true. It returns the function that
// says so: what is known of an Unverified caller is about the site, and no right ends it.
func (d *drops) add(gone func(identityEntry) bool) func(identityEntry) bool {
	covers := func(e identityEntry) bool { return e.caller.Kind != Unverified && gone(e) }
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) < keptDrops {
		d.last = append(d.last, covers)
	} else {
		d.last[d.n%keptDrops] = covers
	}
	d.n++
	return covers
}

// cover tells whether a drop since epoch covers e, or may do so.
func (d *drops) cover(e identityEntry, epoch uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n-epoch > keptDrops {
		return true
	}
	for ; epoch < d.n; epoch++ {
		if d.last[epoch%keptDrops](e) {
			return true
		}
	}
	return false
}
