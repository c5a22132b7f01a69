package site

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// settingsQuery names the settings screen with the flags, as the shop of real sites does.
func (s *Site) settingsQuery() string {
	return "page=" + s.names.short() + "-settings&tab=advanced&section=features"
}

// settingsPage is the screen Settings, Advanced, Features (docs/project/interface 1, rule 9).
type settingsPage struct {
	Flags             []settingsFlag
	NonceField, Nonce string
	Action            string
	Saved             bool
}

type settingsFlag struct {
	ID, Title string
	On        bool
}

// serveSettings shows the flags to administrators, and saves them with their nonce: a box
// that is not ticked switches its flag off, as a form does. Every other caller is refused.
func (s *Site) serveSettings(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	v, status := s.settings(r)
	s.mu.Unlock()
	if status != http.StatusOK {
		s.die(w, status, notAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s.render(w, r, status, "settings", v)
}

// settings saves what a POST request ticked, and returns the screen. s.mu is held.
func (s *Site) settings(r *http.Request) (v settingsPage, status int) {
	u, session := s.cookieUser(r)
	if u == nil || !u.can("manage_options") {
		return v, http.StatusForbidden
	}
	if r.Method == http.MethodPost {
		if !s.validNonce(r.PostForm.Get(s.names.NonceParam), u, session) {
			return v, http.StatusForbidden
		}
		for _, f := range s.knownFeatures() {
			s.features[f.id] = !slices.Contains([]string{"", "0", "no", "false"}, strings.ToLower(r.PostForm.Get(f.id)))
		}
		v.Saved = true
	}
	v.Action = s.script(screenScript + "?" + s.settingsQuery())
	v.NonceField, v.Nonce = s.names.NonceParam, s.nonce(u, session)
	for _, f := range s.knownFeatures() {
		v.Flags = append(v.Flags, settingsFlag{f.id, f.title, s.features[f.id]})
	}
	return v, http.StatusOK
}

// includes tells whether got has every value of want.
func includes(got, want url.Values) bool {
	for name := range want {
		if got.Get(name) != want.Get(name) {
			return false
		}
	}
	return true
}
