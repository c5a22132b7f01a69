package gateway

import (
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
)

// Statuses implements admin.Gateways. A site that several directives guard, each on addresses or
// with a mode of its own, is there for each of them: they share the name, and what is counted and
// switched by it, and the tags.
func (e endpoint) Statuses() []adminapi.Site {
	all, now := []adminapi.Site{}, time.Now()
	var same []*site // with the name of the last ones, each with other rules
	tags := map[string][]string{}
	for _, s := range e.app.directives(anySite) {
		if len(same) > 0 && same[0].Name != s.Name {
			same = nil
		}
		tags[s.Name] = append(tags[s.Name], s.g.Tag...)
		first := len(all) - len(same)
		switch i := slices.IndexFunc(same, func(t *site) bool {
			return t.g.spot() == s.g.spot() || t.g.server == s.g.server && t.g.mode() == s.g.mode()
		}); {
		case i < 0:
			same, all = append(same, s), append(all, s.status(now))
		case same[i].g.server != s.g.server: // one directive with several addresses
			all[first+i].Listen = append(all[first+i].Listen, strings.Fields(s.g.server)...)
		}
	}
	for i := range all {
		all[i].Tags = distinct(tags[all[i].Site])
		if (i == 0 || all[i-1].Site != all[i].Site) && (i+1 == len(all) || all[i+1].Site != all[i].Site) {
			all[i].Listen = nil
		}
	}
	return all
}

// status returns the state of the site.
func (s *site) status(now time.Time) adminapi.Site {
	configured := string(s.g.mode())
	bytes, limit := s.spool.Held(s.Name)
	st := adminapi.Site{
		Site: s.Name, Listen: strings.Fields(s.g.server), Platform: s.g.Platform, Mode: configured, Configured: configured,
		Lockdown: s.state.lockdown(now), Questions: s.state.asked(), Spool: adminapi.Spool{Bytes: bytes, Limit: limit},
		Problems: s.problems(), Refusals: len(s.state.last.All()),
		Routes: s.state.roots.status(), Misread: s.misreadStatus(),
		Scopes: s.state.scopes.status(s.Scopes, now),
		Opens:  linesOn(s.state.running.board.Opens(s.Name)), Closes: linesOn(s.state.running.board.Closes(s.Name)),
	}
	st.Release, st.ReleaseSource = s.Release.Known()
	if on, ok := s.state.switches.Mode.At(now); ok {
		until := on.Until.UTC()
		st.Mode, st.ModeUntil = string(on.Mode), &until
	}
	return st
}

// problems returns what is odd in the configuration of the site, and what does not fit
// its REST roots.
func (s *site) problems() []adminapi.Problem {
	all := []adminapi.Problem{}
	for _, f := range s.g.app.findings {
		own := f.directive == s.g.spot()
		about := len(f.Sites) == 0 && own || slices.ContainsFunc(s.way.Hosts, func(host string) bool { return slices.Contains(f.Sites, host) })
		if about && (own || !s.g.app.elsewhere(f.directive, s.g.server)) {
			all = append(all, adminapi.Problem{Code: f.Code, Problem: f.Problem(), At: f.At})
		}
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return append(all, s.state.problems...)
}

// linesOn returns lines that are switched on, as the status has them.
func linesOn(on []switches.Line) (all []adminapi.Line) {
	for _, l := range on {
		all = append(all, adminapi.Line{Line: l.Line, Since: l.Set.UTC(), Until: l.Until, By: l.By})
	}
	return all
}
