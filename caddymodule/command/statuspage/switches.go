package statuspage

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// modeBody is the body of a switch of the mode, which names the site.
type modeBody struct {
	Site string `json:"site"`
	adminapi.ModeSwitch[string]
}

// serveMode switches the mode of a site, as POST [adminapi.ModePath].
func (p *Page) serveMode(w http.ResponseWriter, r *http.Request, v view) error {
	var body modeBody
	if err := readSwitch(w, r, v, &body); err != nil {
		return err
	}
	return p.forward(w, r, adminapi.Named(adminapi.ModePath, body.Site), body.ModeSwitch)
}

// serveLockdown switches a lockdown, as POST [adminapi.LockdownPath].
func (p *Page) serveLockdown(w http.ResponseWriter, r *http.Request, v view) error {
	var body adminapi.LockdownSwitch[string]
	if err := readSwitch(w, r, v, &body); err != nil {
		return err
	}
	return p.forward(w, r, adminapi.LockdownPath, body)
}

// readSwitch reads the body of a request that switches, which only the page of all sites may.
func readSwitch(w http.ResponseWriter, r *http.Request, v view, body any) error {
	if !v.all() {
		return statusError{http.StatusForbidden, errors.New("this page shows one site, and switches nothing")}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, adminapi.MaxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(body); err != nil {
		return statusError{http.StatusBadRequest, fmt.Errorf("the body of the switch: %w", err)}
	}
	return nil
}

// forward lets Caddy switch, and answers what it answers.
func (p *Page) forward(w http.ResponseWriter, r *http.Request, path string, body any) error {
	operator, err := p.sites.operator(r)
	if err != nil {
		return err
	}
	defer p.sites.forget()
	var answer json.RawMessage
	if err := p.api.With(operator).Ask(r.Context(), http.MethodPost, path, body, &answer); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}
