package gateway

import (
	"errors"
	"slices"

	"github.com/jellydator/ttlcache/v3"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/review"
)

// maxLogged bounds the texts of problems that are remembered, since hosts stand in some.
const maxLogged = 100

// warnings remembers the texts that were logged, the newest of them. The zero value is ready.
type warnings struct {
	texts *ttlcache.Cache[string, struct{}] // most sites have none
}

// first tells whether text is not remembered, and remembers it.
func (w *warnings) first(text string) bool {
	if w.texts == nil {
		w.texts = ttlcache.New(ttlcache.WithCapacity[string, struct{}](maxLogged))
	}
	_, known := w.texts.GetOrSet(text, struct{}{})
	return !known
}

func (w *warnings) forget(text string) {
	if w.texts != nil {
		w.texts.Delete(text)
	}
}

// warned returns the texts that were logged of hosts like h. Clients may send any host, and must
// not push out those of one that the configuration names.
func (d *discovery) warned(h *hostRoot) *warnings {
	if h.spelled {
		return &d.spelled
	}
	return &d.others
}

// failed logs that a root could not be read. The first failure of its kind is a warning if
// the answer shows the cause.
func (d *discovery) failed(s *site, h *hostRoot, err error) {
	level := zap.DebugLevel
	if _, ok := errors.AsType[*ask.UnexpectedError](err); ok && d.warned(h).first(err.Error()) {
		level = zap.WarnLevel
	}
	s.logger.Log(level, "the REST root could not be read", zap.String("site", s.Name), zap.Error(err))
}

// report logs the new problems of a host and counts those of all hosts.
func (d *discovery) report(s *site, h *hostRoot, problems []discover.Problem) {
	before, logged := h.problems, d.warned(h)
	for _, p := range before {
		logged.forget(p.Text)
	}
	h.problems = problems
	for _, p := range problems {
		if logged.first(p.Text) && !slices.Contains(before, p) {
			s.logger.Warn("the configuration does not fit the site",
				zap.String("site", s.Name), zap.String("code", p.Code), zap.String("problem", p.Text))
		}
	}
	counts, found := map[string]int{}, map[discover.Problem]bool{}
	for _, spelled := range []bool{true, false} {
		d.hosts.Each(func(_ string, h *hostRoot) {
			if h.spelled != spelled {
				return
			}
			for _, p := range h.problems {
				counts[p.Code]++
				if len(found) < maxLogged {
					found[p] = true
				}
			}
		})
	}
	s.state.found(found)
	for _, code := range discover.ProblemCodes() {
		if change := counts[code] - d.problems[code]; change != 0 {
			s.metrics.Misfits(s.Name, code, change)
		}
	}
	d.problems = counts
}

// warnNarrow logs the rules that miss calls of the routes of a host's root, once each.
func (d *discovery) warnNarrow(s *site, host string, root *discover.Root) {
	h, known := d.hosts.Get(host)
	if root.Index == nil || !known {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range review.Narrow(s.chain, root.Index) {
		if d.warned(h).first(o.At + " " + o.Text) {
			s.logger.Warn(o.Text, zap.String("site", s.Name), zap.String("code", o.Code), zap.String("at", s.g.Lines.In(o.At)), zap.String("do", o.Do))
		}
	}
}
