package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/policy"
)

// keptRecords is how many records of refusals are kept for each site.
const keptRecords = 100

// siteState is what is known of a site beyond one configuration: its last refusals, its
// questions, its switches, its routes and its misread pages. The pool keeps it by the site's name.
type siteState struct {
	name     string
	switches policy.Switches
	board    *switchboard
	roots    rootMemory
	misreads misreads

	mu        sync.Mutex
	records   []Record // the last ones; a ring once it is full
	oldest    int      // index in a full ring
	questions map[ask.Kind]*askedKind
	problems  []problemStatus // that the REST root shows
}

type siteStateKey struct{ name string }

// askedKind counts the questions of one kind.
type askedKind struct {
	Asked   uint64    `json:"asked"`
	Known   uint64    `json:"known"` // not asked, since the answer was known
	Failed  uint64    `json:"failed"`
	Seconds float64   `json:"seconds"` // that the platform needed for all of them
	Last    time.Time `json:"last,omitzero"`
	Error   string    `json:"error,omitempty"` // why the last one had no usable answer
}

// newSiteState returns the state of a site that nothing is known of, and connects its
// switches to the board.
func newSiteState(name string, board *switchboard) *siteState {
	s := &siteState{name: name, board: board, questions: map[ask.Kind]*askedKind{}}
	s.switches.All = &board.all
	board.join(s)
	return s
}

// Close disconnects the switches. The board remembers what is switched on.
func (s *siteState) Close() error {
	s.board.leave(s)
	return nil
}

// add keeps a record and sends it to those who follow the events.
func (s *siteState) add(rec Record) {
	rec.Time = time.Now().UTC()
	s.mu.Lock()
	if len(s.records) < keptRecords {
		s.records = append(s.records, rec)
	} else {
		s.records[s.oldest] = rec
		s.oldest = (s.oldest + 1) % keptRecords
	}
	s.mu.Unlock()
	s.board.events.send(rec)
}

// refusals returns the last records, the newest first.
func (s *siteState) refusals() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Concat(s.records[s.oldest:], s.records[:s.oldest])
	slices.Reverse(all)
	return all
}

// counting returns t with the questions counted for the site as well.
func (s *siteState) counting(t ask.Trace) ask.Trace {
	return ask.Trace{
		Asked: func(q ask.Question, a *ask.Answer, err error, took time.Duration) {
			t.Asked(q, a, err, took)
			s.count(q.Kind, func(k *askedKind) {
				k.Asked++
				k.Seconds += took.Seconds()
				k.Last = time.Now()
				if k.Error = unusable(&q, a, err); k.Error != "" {
					k.Failed++
				}
			})
		},
		Known: func(kind ask.Kind) {
			t.Known(kind)
			s.count(kind, func(k *askedKind) { k.Known++ })
		},
	}
}

// unusable says why a question had no usable answer. A REST root that is not there is a
// problem of the site, see found.
func unusable(q *ask.Question, a *ask.Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case q.As == ask.AsKey && q.Kind == ask.KindRecord && a.Denied(): // such as the credential of order_type
		return "the key of the question is refused: " + (&ask.UnexpectedError{Answer: a}).Error()
	case q.Kind != ask.KindIndex && a.Status >= http.StatusBadRequest && a.Code() == "":
		return (&ask.UnexpectedError{Answer: a}).Error()
	}
	return ""
}

func (s *siteState) count(kind ask.Kind, f func(*askedKind)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.questions[kind]
	if k == nil {
		k = new(askedKind)
		s.questions[kind] = k
	}
	f(k)
}

// asked returns the questions so far, by kind.
func (s *siteState) asked() map[ask.Kind]askedKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[ask.Kind]askedKind, len(s.questions))
	for kind, k := range s.questions {
		all[kind] = *k
	}
	return all
}

// problemStatus is a setting that is odd or does not fit the site.
type problemStatus struct {
	Code    string `json:"code"`
	Problem string `json:"problem"`
	At      string `json:"at,omitempty"` // where it stands in the configuration
}

// found keeps the problems that the REST roots of the site's hosts show.
func (s *siteState) found(problems map[discover.Problem]bool) {
	all := make([]problemStatus, 0, len(problems))
	for p := range problems {
		all = append(all, problemStatus{Code: p.Code, Problem: p.Text})
	}
	slices.SortFunc(all, func(p, q problemStatus) int {
		return cmp.Or(strings.Compare(p.Code, q.Code), strings.Compare(p.Problem, q.Problem))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = all
}
