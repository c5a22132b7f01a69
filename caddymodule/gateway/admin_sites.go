package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
)

// statusVersion is the version of the answers, "v". A field may be added without a new
// version.
const statusVersion = 1

// siteStatus is a site in the answer to GET /restwarden/sites.
type siteStatus struct {
	Site string `json:"site"`
	// Listen is where Caddy listens; only where another directive guards the site elsewhere, or
	// in another mode.
	Listen    []string   `json:"listen,omitempty"`
	Platform  string     `json:"platform"`
	Mode      string     `json:"mode"`                 // in force now
	ModeUntil *time.Time `json:"mode_until,omitempty"` // if it is switched
	// Configured is the directive's mode, which counts again after ModeUntil.
	Configured    string                 `json:"configured_mode"`
	Lockdown      *lockdownStatus        `json:"lockdown"` // null if there is none
	Release       string                 `json:"release"`  // "10.7", or "unknown"
	ReleaseSource string                 `json:"release_source"`
	Problems      []problemStatus        `json:"problems"`
	Questions     map[ask.Kind]askedKind `json:"questions"`
	Spool         spoolStatus            `json:"spool"`
	Refusals      int                    `json:"refusals"`         // that are kept
	Routes        *routesStatus          `json:"routes,omitempty"` // nil until a root has listed some
	Misread       misreadStatus          `json:"misread"`
}

// lockdownStatus is a lockdown in force.
type lockdownStatus struct {
	Until time.Time `json:"until"`
	Hard  bool      `json:"hard"`
	// All tells whether it is the lockdown of all sites; a site may have its own as well.
	All bool `json:"all"`
}

// spoolStatus is how much of the site's request bodies is on disk, and may be.
type spoolStatus struct {
	Bytes int64 `json:"bytes"`
	Limit int64 `json:"limit"`
}

// serveSites answers GET /restwarden/sites.
func serveSites(w http.ResponseWriter, a adminRequest) error {
	return writeJSON(w, struct {
		Version int          `json:"v"`
		Sites   []siteStatus `json:"sites"`
		Store   *storeStatus `json:"store,omitempty"`
	}{statusVersion, a.app.statuses(time.Now()), a.app.storeStatus()})
}

// statuses returns the state of each site. One that several directives guard, each on
// addresses or with a mode of its own, is there for each of them: they share the name, and
// what is counted and switched by it.
func (a *App) statuses(now time.Time) []siteStatus {
	all := []siteStatus{}
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
func (s *site) status(now time.Time) siteStatus {
	configured := string(s.g.mode())
	bytes, limit := s.spool.Held(s.Name)
	st := siteStatus{
		Site: s.Name, Listen: strings.Fields(s.g.server), Platform: s.g.Platform, Mode: configured, Configured: configured,
		Lockdown: s.state.lockdown(now), Questions: s.state.asked(), Spool: spoolStatus{bytes, limit},
		Problems: s.problems(), Refusals: len(s.state.refusals()),
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
func (s *siteState) lockdown(now time.Time) *lockdownStatus {
	var st *lockdownStatus
	for _, sw := range []*policy.Switch{&s.switches.Lockdown, s.switches.All} {
		on, ok := sw.At(now)
		if !ok {
			continue
		}
		if st == nil {
			st = new(lockdownStatus)
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
func (s *site) problems() []problemStatus {
	all := []problemStatus{}
	for _, f := range s.g.app.findings {
		own := f.directive == s.g.spot()
		about := len(f.Sites) == 0 && own || slices.ContainsFunc(s.way.Hosts, func(host string) bool { return slices.Contains(f.Sites, host) })
		if about && (own || !s.g.app.elsewhere(f.directive, s.g.server)) {
			all = append(all, problemStatus{f.Code, f.Problem(), f.At})
		}
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return append(all, s.state.problems...)
}

// serveRefusals answers GET /restwarden/sites/<site>/refusals.
func serveRefusals(w http.ResponseWriter, a adminRequest) error {
	return writeJSON(w, struct {
		Version  int      `json:"v"`
		Site     string   `json:"site"`
		Refusals []Record `json:"refusals"` // the newest first
	}{statusVersion, a.site.Name, append([]Record{}, a.site.state.refusals()...)})
}
