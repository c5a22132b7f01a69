package statuspage

import (
	"slices"
	"sync"
	"time"
)

const (
	// keptRecords is how many records of all sites together are kept for a page that is
	// opened later.
	keptRecords = 300
	// pendingRecords is how many records wait for one page, between two times that it is
	// written to. It is only told how many more there were.
	pendingRecords = 100
)

// feed hands on what Caddy refuses to all pages that are open: Caddy itself has one reader,
// whatever their number. The zero value has none.
type feed struct {
	mu      sync.Mutex
	recent  []object // the newest last
	problem string   // why nothing comes; "" while Caddy is followed
	readers map[*reader]struct{}
}

// reader is an open page.
type reader struct {
	view    view
	changed chan struct{} // has a value if there is something to take

	news // since the last take; the feed's mu guards it
}

// news is what an open page is told at one time.
type news struct {
	Records []object       `json:"records"` // the newest last
	Counts  map[string]int `json:"counts"`  // of refusals by site, those beyond Records too
	Lost    uint64         `json:"lost"`    // that nobody knows anything of

	problem string
	state   bool // whether problem is new
}

// join returns a reader. That of all sites first gets the recent records; the page of one
// asks Caddy, which forgets them with the site: another customer may have its name now. The
// caller must call leave.
func (f *feed) join(v view) *reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == nil {
		f.readers = map[*reader]struct{}{}
	}
	r := &reader{view: v, changed: make(chan struct{}, 1)}
	r.problem, r.state = f.problem, true
	if v.all() {
		for _, record := range f.recent {
			r.add(record, 0)
		}
	}
	f.readers[r] = struct{}{}
	r.wake()
	return r
}

func (f *feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
}

// take returns the news of a reader, which has none then.
func (f *feed) take(r *reader) news {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := r.news
	r.news = news{}
	return taken
}

// send gives a record to all readers that may see it.
func (f *feed) send(record object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(record)
	for r := range f.readers {
		if r.add(record, 1) {
			r.wake()
		}
	}
}

// lose tells the readers of all sites that records are lost.
func (f *feed) lose(count uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		if r.view.all() {
			r.Lost += count
			r.wake()
		}
	}
}

// report says why nothing comes, or "" that Caddy is followed. Readers are told if that is
// new, or if Caddy is followed again: it may be another process.
func (f *feed) report(problem string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if problem != "" && problem == f.problem {
		return
	}
	f.problem = problem
	for r := range f.readers {
		r.problem, r.state = problem, true
		r.wake()
	}
}

// merge adds older records to the recent ones.
func (f *feed) merge(older []object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	have := map[string]bool{}
	for _, record := range f.recent {
		have[keyOf(record)] = true
	}
	var added []object
	for _, record := range older {
		if !have[keyOf(record)] {
			added = append(added, record)
		}
	}
	f.recent = append(f.recent, added...)
	slices.SortStableFunc(f.recent, func(a, b object) int { return timeOf(a).Compare(timeOf(b)) })
	f.recent = f.recent[max(0, len(f.recent)-keptRecords):]
	for r := range f.readers {
		for _, record := range added {
			r.add(record, 0)
		}
		r.wake()
	}
}

func (f *feed) keep(record object) {
	if f.recent = append(f.recent, record); len(f.recent) > 2*keptRecords {
		f.recent = slices.Clone(f.recent[len(f.recent)-keptRecords:])
	}
}

// keyOf tells records apart. Those of one batch have one id.
func keyOf(record object) string {
	return record.text("time") + " " + record.text("request_id") + " " + record.text("route")
}

func timeOf(record object) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, record.text("time")) // one without a time is the oldest
	return t
}

// add adds a record that counts as many refusals as count; seen is false if it is not for
// this reader.
func (r *reader) add(record object, count int) (seen bool) {
	site := record.text("site")
	if !r.view.all() && site != r.view.site {
		return false
	}
	if !r.view.all() {
		record = ownRecord(record)
	}
	if r.Records = append(r.Records, record); len(r.Records) > pendingRecords {
		r.Records = slices.Delete(r.Records, 0, 1)
	}
	if count > 0 {
		if r.Counts == nil {
			r.Counts = map[string]int{}
		}
		r.Counts[site] += count
	}
	return true
}

func (r *reader) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
