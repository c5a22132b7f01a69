package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/policy"
)

// siteState is what is known of a site beyond one configuration: its last refusals, its
// questions, its switches, its routes and its misread pages. The pool keeps it by the site's name.
type siteState struct {
	name     string
	switches policy.Switches
	running  *running
	last     refusals.Last
	roots    rootMemory
	misreads misreads
	scopes   scopeUses

	mu        sync.Mutex
	questions map[ask.Kind]*adminapi.Asked
	problems  []adminapi.Problem // that the REST root shows
}

type siteStateKey struct{ name string }

// newSiteState returns the state of a site that nothing is known of, and connects its
// switches to the board.
func newSiteState(name string, r *running) *siteState {
	s := &siteState{name: name, running: r, questions: map[ask.Kind]*adminapi.Asked{}}
	r.board.Join(name, &s.switches)
	return s
}

// Close disconnects the switches. The board remembers what is switched on.
func (s *siteState) Close() error {
	s.running.board.Leave(s.name, &s.switches)
	return nil
}

// add keeps a record and sends it to those who follow the events.
func (s *siteState) add(rec Record) {
	kept := adminapi.Refusal{Time: time.Now().UTC(), Record: rec.Record}
	s.last.Add(kept)
	s.running.followers.Send(kept)
}

// counting returns what counts questions, in metrics and for the site.
func (s *siteState) counting(m *metrics.Metrics) ask.Trace {
	return ask.Trace{
		Asked: func(q ask.Question, a *ask.Answer, err error, took time.Duration) {
			problem := unusable(&q, a, err)
			m.Asked(q.Kind, problem == "", err, took)
			s.count(q.Kind, func(k *adminapi.Asked) {
				k.Asked++
				k.Seconds += took.Seconds()
				k.Last = time.Now()
				if k.Error = problem; problem != "" {
					k.Failed++
				}
			})
		},
		Known: func(kind ask.Kind) {
			m.Remembered(kind)
			s.count(kind, func(k *adminapi.Asked) { k.Known++ })
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

func (s *siteState) count(kind ask.Kind, f func(*adminapi.Asked)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.questions[kind]
	if k == nil {
		k = new(adminapi.Asked)
		s.questions[kind] = k
	}
	f(k)
}

// asked returns the questions so far, by kind.
func (s *siteState) asked() map[ask.Kind]adminapi.Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[ask.Kind]adminapi.Asked, len(s.questions))
	for kind, k := range s.questions {
		all[kind] = *k
	}
	return all
}

// found keeps the problems that the REST roots of the site's hosts show.
func (s *siteState) found(problems map[discover.Problem]bool) {
	all := make([]adminapi.Problem, 0, len(problems))
	for p := range problems {
		all = append(all, adminapi.Problem{Code: p.Code, Problem: p.Text})
	}
	slices.SortFunc(all, func(p, q adminapi.Problem) int {
		return cmp.Or(strings.Compare(p.Code, q.Code), strings.Compare(p.Problem, q.Problem))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = all
}

// lockdown returns the lockdown in force: if there are two, when the last one ends, and
// whether one of them is hard.
func (s *siteState) lockdown(now time.Time) *adminapi.Lockdown {
	var st *adminapi.Lockdown
	for _, sw := range []*policy.Switch{&s.switches.Lockdown, s.switches.All} {
		on, ok := sw.At(now)
		if !ok {
			continue
		}
		if st == nil {
			st = new(adminapi.Lockdown)
		}
		if on.Until.After(st.Until) {
			st.Until = on.Until.UTC()
		}
		st.Hard, st.All = st.Hard || on.Hard, st.All || sw == s.switches.All
	}
	return st
}
