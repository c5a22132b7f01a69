package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// serveSites answers GET /restwarden/sites.
func serveSites(w http.ResponseWriter, a adminRequest) error {
	return writeJSON(w, adminapi.Sites[adminapi.Site, adminapi.Store]{
		Version: adminapi.Version, Sites: a.app.statuses(time.Now()), Store: a.app.storeStatus(),
	})
}

// statuses returns the state of each site. One that several directives guard, each on
// addresses or with a mode of its own, is there for each of them: they share the name, and
// what is counted and switched by it.
func (a *App) statuses(now time.Time) []adminapi.Site {
	all := []adminapi.Site{}
	var same []*site // with the name of the last ones, each with other rules
	for _, s := range a.directives(anySite) {
		if len(same) > 0 && same[0].Name != s.Name {
			same = nil
		}
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
		if (i == 0 || all[i-1].Site != all[i].Site) && (i+1 == len(all) || all[i+1].Site != all[i].Site) {
			all[i].Listen = nil
		}
	}
	return all
}

// mode returns the mode of the directive.
func (g *Gateway) mode() policy.Mode { return cmp.Or(g.Mode, policy.Enforce) }

// status returns the state of the site.
func (s *site) status(now time.Time) adminapi.Site {
	configured := string(s.g.mode())
	bytes, limit := s.spool.Held(s.Name)
	st := adminapi.Site{
		Site: s.Name, Listen: strings.Fields(s.g.server), Platform: s.g.Platform, Mode: configured, Configured: configured,
		Lockdown: s.state.lockdown(now), Questions: s.state.asked(), Spool: adminapi.Spool{Bytes: bytes, Limit: limit},
		Problems: s.problems(), Refusals: len(s.state.last.All()),
		Routes: s.state.roots.status(), Misread: s.misreadStatus(),
	}
	st.Release, st.ReleaseSource = s.Release.Known()
	if on, ok := s.state.switches.Mode.At(now); ok {
		until := on.Until.UTC()
		st.Mode, st.ModeUntil = string(on.Mode), &until
	}
	return st
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

// serveRefusals answers GET /restwarden/sites/<site>/refusals.
func serveRefusals(w http.ResponseWriter, a adminRequest) error {
	return writeJSON(w, adminapi.Refusals[adminapi.Refusal]{
		Version: adminapi.Version, Site: a.site.Name, Refusals: append([]adminapi.Refusal{}, a.site.state.last.All()...),
	})
}
