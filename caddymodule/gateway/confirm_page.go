package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/confirm"
)

//go:embed confirm.html
var confirmHTML string

var (
	confirmTemplate = template.Must(template.New("confirm").Parse(confirmHTML))
	confirmCSP      = "default-src 'none'; style-src '" + styleHash(confirmHTML) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

// styleHash is the source expression for the one style element of a page.
func styleHash(page string) string {
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// confirmView is what the page shows. Without C, it shows the title and the text alone.
type confirmView struct {
	Title, Text string
	Site        string
	C           *confirm.Confirmation
	Arguments   string
	Beside      string // what the call carries beside them
	Left        time.Duration
}

// maxDecision bounds, in bytes, the form of a decision.
const maxDecision = 1 << 10

// serveConfirm serves the page behind the link of a confirmation. GET shows it and decides
// nothing, since programs follow links to preview them. The page is the gateway's own: no
// policy judges it, and no log has its address.
func (s *site) serveConfirm(w http.ResponseWriter, r *http.Request, token string) error {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		return showConfirm(w, http.StatusMethodNotAllowed, confirmView{Title: "Method not allowed"})
	}
	from, wrong := caller.AddressKey(peerOf(r, varsOf(r)).client), s.g.app.people.wrong
	if !wrong.Allow(from) {
		w.Header().Set("Retry-After", "60")
		return showConfirm(w, http.StatusTooManyRequests, confirmView{Title: "Too many requests", Text: "Please try again later."})
	}
	c, err := s.confirmations.ByToken(r.Context(), token)
	if !errors.Is(err, confirm.ErrUnknown) {
		wrong.Refund(from)
	}
	if err == nil && r.Method == http.MethodPost {
		return s.serveDecided(w, r, c)
	}
	if err != nil {
		return s.showFailed(w, err)
	}
	return showConfirm(w, http.StatusOK, confirmView{
		Title: "Confirm a call", Site: s.Name, C: c, Arguments: confirm.Show(c.Arguments), Beside: confirm.Show(c.Beside), Left: time.Until(c.Expires).Round(time.Second),
	})
}

// serveDecided takes the decision of the page's form.
func (s *site) serveDecided(w http.ResponseWriter, r *http.Request, c *confirm.Confirmation) error {
	give, ok := readDecision(w, r)
	if !ok {
		return showConfirm(w, http.StatusBadRequest, confirmView{Title: "Nothing was decided", Text: "Open the link again and use its buttons."})
	}
	// A person who closes the page has decided all the same.
	c, err := s.decide(context.WithoutCancel(r.Context()), c.ID, give, "link, "+peerOf(r, varsOf(r)).client.String())
	if err != nil {
		return s.showFailed(w, err)
	}
	view := confirmView{Title: "Rejected", Text: "The call " + c.ID + " will not run. This link is used up."}
	if give {
		view = confirmView{Title: "Confirmed", Text: "The call " + c.ID + " may run once, if its caller repeats it in time. This link is used up."}
	}
	return showConfirm(w, http.StatusOK, view)
}

// readDecision returns what the form of the page says.
func readDecision(w http.ResponseWriter, r *http.Request) (give, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDecision))
	if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return false, false
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || len(form) != 1 || len(form["decision"]) != 1 {
		return false, false
	}
	word := form.Get("decision")
	return word == "give", word == "give" || word == "reject"
}

func (s *site) showFailed(w http.ResponseWriter, err error) error {
	if errors.Is(err, confirm.ErrUnknown) || errors.Is(err, confirm.ErrDecided) {
		return showConfirm(w, http.StatusNotFound, confirmView{Title: "Not found", Text: "This link is wrong, used up or too old."})
	}
	s.logger.Warn("a confirmation could not be read or decided", zap.String("site", s.Name), zap.Error(err))
	w.Header().Set("Retry-After", "5")
	return showConfirm(w, http.StatusServiceUnavailable, confirmView{Title: "Not available", Text: "Nothing is certain to be decided. Please try again."})
}

// showConfirm writes the page. It returns no error: Caddy would log it with the address.
func showConfirm(w http.ResponseWriter, status int, view confirmView) error {
	h := w.Header()
	for name, value := range map[string]string{
		"Cache-Control":              "no-store",
		"Content-Security-Policy":    confirmCSP,
		"Content-Type":               "text/html; charset=utf-8",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Referrer-Policy":            "no-referrer",
		"X-Content-Type-Options":     "nosniff",
		"X-Frame-Options":            "DENY",
		"X-Robots-Tag":               "noindex, nofollow",
	} {
		h.Set(name, value)
	}
	var page bytes.Buffer
	if confirmTemplate.Execute(&page, view) != nil {
		page.Reset()
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client has gone
	return nil
}
