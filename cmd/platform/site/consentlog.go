package site

import (
	"encoding/json"
	"net/http"
)

// consentLogPage is the log screen of the consent plugin (docs/interface 2).
const consentLogPage = "consent-log"

type consentEntry struct {
	Date, Choice string
}

// serveConsentLog lists to administrators what visitors chose.
func (s *Site) serveConsentLog(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	u, _ := s.cookieUser(r)
	allowed := u != nil && u.can("manage_options")
	var entries []consentEntry
	for _, logged := range s.consents {
		choice, _ := json.Marshal(logged["choice"]) // came as JSON or a form
		entries = append(entries, consentEntry{text(logged["date"]), string(choice)})
	}
	s.mu.Unlock()
	if !allowed {
		s.die(w, http.StatusForbidden, notAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s.render(w, r, http.StatusOK, "consents", entries)
}
