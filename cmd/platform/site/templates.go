package site

import (
	"embed"
	"html/template"
	"net/http"
)

//go:embed pages/*.html
var pageFiles embed.FS

var pages = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

// render writes a page.
func (s *Site) render(w http.ResponseWriter, _ *http.Request, status int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(status)
	pages.ExecuteTemplate(w, name+".html", data) //nolint:errcheck // the client may be gone
}
