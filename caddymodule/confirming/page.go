package confirming

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
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/confirm"
)

//go:embed page.html
var pageHTML string

var (
	pageTemplate = template.Must(template.New("confirm").Parse(pageHTML))
	pageCSP      = "default-src 'none'; style-src '" + styleHash(pageHTML) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

// styleHash is the source expression for the one style element of a page.
func styleHash(page string) string {
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the page shows. Without C, it shows the title and the text alone.
type view struct {
	Title, Text string
	Site        string
	C           *confirm.Confirmation
	Arguments   string
	Beside      string // what the call carries beside them
	Left        time.Duration
}

// MaxDecision bounds, in bytes, the form of a decision.
const MaxDecision = 1 << 10

// Serve serves the page behind the link of a confirmation to a client, whose address is the
// zero Addr if unknown. GET shows it and decides nothing, since programs follow links to preview
// them. The page is the gateway's own: no policy judges it, and no log has its address.
func (d *Desk) Serve(w http.ResponseWriter, r *http.Request, token string, client netip.Addr) {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		show(w, http.StatusMethodNotAllowed, view{Title: "Method not allowed"})
		return
	}
	from, wrong := caller.AddressKey(client), d.People.wrong
	if !wrong.Allow(from) {
		w.Header().Set("Retry-After", "60")
		show(w, http.StatusTooManyRequests, view{Title: "Too many requests", Text: "Please try again later."})
		return
	}
	c, err := d.Ledger.ByToken(r.Context(), token)
	if !errors.Is(err, confirm.ErrUnknown) {
		wrong.Refund(from)
	}
	switch {
	case err != nil:
		d.showFailed(w, err)
	case r.Method == http.MethodPost:
		d.serveDecided(w, r, c, client)
	default:
		show(w, http.StatusOK, view{
			Title: "Confirm a call", Site: d.Site, C: c, Arguments: confirm.Show(c.Arguments), Beside: confirm.Show(c.Beside), Left: time.Until(c.Expires).Round(time.Second),
		})
	}
}

// serveDecided takes the decision of the page's form.
func (d *Desk) serveDecided(w http.ResponseWriter, r *http.Request, c *confirm.Confirmation, client netip.Addr) {
	give, ok := readDecision(w, r)
	if !ok {
		show(w, http.StatusBadRequest, view{Title: "Nothing was decided", Text: "Open the link again and use its buttons."})
		return
	}
	// A person who closes the page has decided all the same.
	c, err := d.Decide(context.WithoutCancel(r.Context()), c.ID, give, adminapi.By{Address: "link, " + client.String()})
	switch {
	case err != nil:
		d.showFailed(w, err)
	case give:
		show(w, http.StatusOK, view{Title: "Confirmed", Text: "The call " + c.ID + " may run once, if its caller repeats it in time. This link is used up."})
	default:
		show(w, http.StatusOK, view{Title: "Rejected", Text: "The call " + c.ID + " will not run. This link is used up."})
	}
}

// readDecision returns what the form of the page says.
func readDecision(w http.ResponseWriter, r *http.Request) (give, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxDecision))
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

func (d *Desk) showFailed(w http.ResponseWriter, err error) {
	if errors.Is(err, confirm.ErrUnknown) || errors.Is(err, confirm.ErrDecided) {
		show(w, http.StatusNotFound, view{Title: "Not found", Text: "This link is wrong, used up or too old."})
		return
	}
	d.Logger.Warn("a confirmation could not be read or decided", zap.String("site", d.Site), zap.Error(err))
	w.Header().Set("Retry-After", "5")
	show(w, http.StatusServiceUnavailable, view{Title: "Not available", Text: "Nothing is certain to be decided. Please try again."})
}

// show writes the page. Nobody gets an error of it: Caddy would log it with the address.
func show(w http.ResponseWriter, status int, shown view) {
	h := w.Header()
	for name, value := range map[string]string{
		"Cache-Control":              "no-store",
		"Content-Security-Policy":    pageCSP,
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
	if pageTemplate.Execute(&page, shown) != nil {
		page.Reset()
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client has gone
}
