package site

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// screenScript shows the screens of shop and plugins, editorScript the editor.
const (
	screenScript = "admin/admin.php"
	editorScript = "admin/post.php"
)

const notAllowed = "Sorry, you are not allowed to access this page."

// serveScreen shows the screen that the query names.
func (s *Site) serveScreen(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	_ = r.ParseForm() // before a lock: a client may be slow; what is missing fails later
	settings, _ := url.ParseQuery(s.settingsQuery())
	switch query := r.URL.Query(); {
	case includes(query, settings):
		s.serveSettings(w, r)
	case query.Get("page") == consentLogPage:
		s.serveConsentLog(w, r)
	case query.Get("page") == s.names.short()+"-admin":
		s.serveAnalytics(w, r)
	default:
		s.notFound(w, r)
	}
}

// admits tells whether the login cookie of r is of a user with a capability. It answers the
// request where not.
func (s *Site) admits(w http.ResponseWriter, r *http.Request, capability string) bool {
	s.mu.Lock()
	u, _ := s.cookieUser(r)
	s.mu.Unlock()
	if u == nil || !u.can(capability) {
		s.die(w, http.StatusForbidden, notAllowed)
		return false
	}
	w.Header().Set("Cache-Control", "no-store")
	return true
}

// consentLogPage is the log screen of the consent plugin (docs/project/interface 2).
const consentLogPage = "consent-log"

type consentEntry struct {
	Date, Choice string
}

// serveConsentLog lists to administrators what visitors chose.
func (s *Site) serveConsentLog(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r, "manage_options") {
		return
	}
	var entries []consentEntry
	s.mu.Lock()
	for _, logged := range s.consents {
		choice, _ := json.Marshal(logged["choice"]) // came as JSON or a form
		entries = append(entries, consentEntry{text(logged["date"]), string(choice)})
	}
	s.mu.Unlock()
	s.render(w, r, http.StatusOK, "consents", entries)
}

// serveAnalytics is the analytics page. Before 11.1 its settings have properties that come
// from the request (docs/project/interface 9, rule 4).
func (s *Site) serveAnalytics(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r, s.names.manageShop()) {
		return
	}
	settings := obj{"currency": obj{"code": currency, "symbol": s.symbol(currency)}, "version": s.opt.Release + ".0"}
	if !s.since("11.1") {
		settings["embedBreadcrumbs"], settings["query"] = []string{r.URL.Query().Get("path")}, r.URL.Query()
	}
	s.render(w, r, http.StatusOK, "analytics", settings)
}

// editorBlocks are the shop's blocks that the editor offers.
var editorBlocks = []string{"product-rating", "product-price", "mini-cart"}

// serveEditor is the editor, as far as it names the files that it loads: those of each
// block, or with the flag shared bundles (docs/project/interface 2).
func (s *Site) serveEditor(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r, "edit_posts") {
		return
	}
	s.mu.Lock()
	names := editorBlocks
	if s.features["unified_editor_assets"] {
		names = []string{"editor-bundle"}
	}
	s.mu.Unlock()
	var files []string
	for _, name := range names {
		files = append(files, s.script("content/plugins/"+s.names.shop+"/blocks/"+name))
	}
	s.render(w, r, http.StatusOK, "editor", files)
}
