package site

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serveScript answers what the web server or a script of the platform's own
// answers without the main query, so that rest_route does not count there
// (docs/platform I.1.1). It tells whether path is such a one.
func (s *Site) serveScript(w http.ResponseWriter, r *http.Request, path string) bool {
	switch path {
	case s.names.script("login.php"):
		s.serveLogin(w, r)
	case s.names.script("admin"), s.names.script("admin/"):
		s.serveAdmin(w, r)
	case s.names.script("admin/options-permalink.php"):
		s.servePermalinks(w, r)
	case s.names.script(editorScript):
		s.serveEditor(w, r)
	case s.names.script(screenScript):
		s.serveScreen(w, r)
	case s.names.script("admin/admin-ajax.php"):
		s.serveAjax(w, r)
	case s.names.script("admin/async-upload.php"):
		s.serveUpload(w, r)
	case s.names.script("content/themes/plain/style.css"):
		http.ServeContent(w, r, "style.css", startOfTime, strings.NewReader(stylesheet))
	default:
		if !slices.Contains(otherScripts, strings.TrimPrefix(path, s.names.script(""))) {
			return false
		}
		w.WriteHeader(http.StatusOK)
	}
	return true
}

// otherScripts are the platform's scripts that do nothing here, but do not
// route to REST either.
var otherScripts = []string{
	"cron.php", "comments-post.php", "mail.php", "links-opml.php", "load.php", "admin/index.php", "admin/admin-post.php",
}

// startOfTime is when the files of the site were last changed.
var startOfTime = time.Date(2026, 5, 19, 0, 0, 0, 0, time.UTC)

const stylesheet = "body { font-family: sans-serif; max-width: 40em; margin: 2em auto; }\n"

// serveAdmin is the dashboard, with the nonce in its head as the real one's
// settings object has it.
func (s *Site) serveAdmin(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	u, session := s.cookieUser(r)
	var v dashboard
	if u != nil {
		v = dashboard{
			User: u.name, Nonce: s.nonce(u, session), Root: s.restURL(r, "/"), ConsentLog: s.script(screenScript + "?page=" + consentLogPage),
			Settings: s.script(screenScript + "?" + s.settingsQuery()),
			Logout:   s.script("login.php?action=logout&" + s.names.NonceParam + "=" + s.logoutNonce(u, session)),
		}
	}
	s.mu.Unlock()
	if u == nil {
		http.Redirect(w, r, s.script("login.php"), http.StatusFound)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s.render(w, r, http.StatusOK, "admin", v)
}

type dashboard struct{ User, Nonce, Root, Settings, ConsentLog, Logout string }

// servePermalinks saves the permalink settings: that regenerates the routing
// rules (docs/project/interface 4, rule 4).
func (s *Site) servePermalinks(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	nonce := r.FormValue(s.names.NonceParam) // before the lock: a client may be slow
	s.mu.Lock()
	defer s.mu.Unlock()
	u, session := s.cookieUser(r)
	if u == nil || !u.can("manage_options") || !s.validNonce(nonce, u, session) {
		http.Error(w, notAllowed, http.StatusForbidden)
		return
	}
	if r.Method == http.MethodPost {
		s.staleRewrites.Store(false)
	}
	fmt.Fprintln(w, "Permalink structure updated.")
}

// serveAjax knows the action that gives a user who is logged in the nonce.
func (s *Site) serveAjax(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	action := r.FormValue("action") // before the lock: a client may be slow
	s.mu.Lock()
	defer s.mu.Unlock()
	u, session := s.cookieUser(r)
	if action != "rest-nonce" || u == nil {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, "0")
		return
	}
	io.WriteString(w, s.nonce(u, session)) //nolint:gosec // hexadecimal digits
}

// serveUpload counts an upload's bytes without holding them.
func (s *Site) serveUpload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	u, _ := s.cookieUser(r)
	s.mu.Unlock()
	if u == nil || !u.can("upload_files") {
		http.Error(w, "Sorry, you are not allowed to upload files.", http.StatusForbidden)
		return
	}
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return
	}
	fmt.Fprintf(w, "%d\n", n)
}

// servePage answers what the main query does not take for REST.
func (s *Site) servePage(w http.ResponseWriter, r *http.Request, in *input, path string) {
	if v, set := in.get.String(s.names.short() + "-ajax"); set && v == "get_variation" {
		s.serveVariation(w, in)
		return
	}
	switch strings.TrimSuffix(path, "/") {
	case "", "/index.php":
		s.mu.Lock()
		v := homePage{FeedID: s.feed.publicID}
		for _, p := range s.posts {
			if p.kind == "post" {
				v.Posts = append(v.Posts, p.title)
			}
		}
		s.mu.Unlock()
		w.Header().Set("Link", "<"+s.restURL(r, "/")+`>; rel="https://api.w.org/"`)
		s.render(w, r, http.StatusOK, "home", v)
	case "/shop":
		s.mu.Lock()
		var v shopPage
		for _, id := range sortedKeys(s.products) {
			p := s.products[id]
			v.Products = append(v.Products, shopProduct{p.name, p.price.String(), template.HTML(s.renderBlocks(html.EscapeString(p.name)))}) //nolint:gosec // escaped here
		}
		s.mu.Unlock()
		s.render(w, r, http.StatusOK, "shop", v)
	case "/my-account":
		s.mu.Lock()
		u, _ := s.cookieUser(r)
		v := accountPage{Withdrawal: s.features["order_withdrawal"], Path: s.opt.Base + withdrawalPath + "/"}
		if u != nil {
			v.User = u.name
		}
		s.mu.Unlock()
		s.render(w, r, http.StatusOK, "account", v)
	case withdrawalPath:
		s.serveWithdrawal(w, r, in)
	case "/stream":
		s.stream(w, r)
	case "/robots.txt":
		io.WriteString(w, "User-agent: *\nDisallow: "+s.script("admin/")+"\n")
	default:
		s.notFound(w, r)
	}
}

type (
	homePage struct {
		FeedID string
		Posts  []string
	}
	shopProduct struct {
		Name, Price string
		Description template.HTML
	}
	shopPage    struct{ Products []shopProduct }
	accountPage struct {
		User, Path string
		Withdrawal bool
	}
)

// serveVariation is the variation AJAX route (docs/project/interface 4,
// rule 6).
func (s *Site) serveVariation(w http.ResponseWriter, in *input) {
	v, _ := in.variable("product_id")
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.products[cast(v)]
	if p == nil || len(p.variations) == 0 {
		io.WriteString(w, "false")
		return
	}
	first := p.variations[0]
	fmt.Fprintf(w, `{"variation_id":%d,"display_price":%q,"variation_description":%q}`,
		first.id, first.price, s.renderBlocks(p.description))
}

// streamChunks is how many pieces the streaming page writes.
const streamChunks = 5

// stream writes and flushes piece by piece, so that a buffering proxy shows.
func (s *Site) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := http.NewResponseController(w)
	for i := range streamChunks {
		io.WriteString(w, "data: "+strconv.Itoa(i)+"\n\n")
		if flusher.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Site) notFound(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusNotFound, "missing", nil)
}

// die ends a request with a page of the platform's own, as PHP's wp_die does.
func (s *Site) die(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<title>Error</title>\n<p>%s</p>\n", html.EscapeString(message))
}
