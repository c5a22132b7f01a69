package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/confirm"
)

// confirmation returns what the admin API shows of c. A link that cannot be made is left out.
func (s *site) confirmation(ctx context.Context, c *confirm.Confirmation) adminapi.Confirmation {
	st := adminapi.Confirmation{
		Site: s.Name, ID: c.ID, State: c.State, Caller: c.Caller, Ability: c.Ability, Door: c.Door,
		Arguments: json.RawMessage(c.Arguments), Beside: json.RawMessage(c.Beside), Expires: c.Expires,
	}
	if c.State == confirm.Pending {
		if link, err := s.desk.Link(ctx, c); err == nil {
			st.Link = link
		}
	}
	return st
}

// confirming returns the sites where calls may have to wait for a person.
func (a *App) confirming() []*site {
	return a.sitesWith(func(s *site) bool { return s.confirmer != nil })
}

// serveConfirmations answers GET /restwarden/confirmations.
func serveConfirmations(w http.ResponseWriter, a adminRequest) error {
	all := []adminapi.Confirmation{}
	for _, s := range a.app.confirming() {
		list, err := s.desk.Ledger.List(a.r.Context())
		if err != nil {
			return adminError(http.StatusServiceUnavailable, err)
		}
		for _, c := range list {
			all = append(all, s.confirmation(a.r.Context(), c))
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, adminapi.Confirmations{Version: adminapi.Version, Confirmations: all})
}

// decisionBody is the body of POST /restwarden/confirmations/<id>.
type decisionBody struct{ adminapi.Decision }

func (b *decisionBody) parse(body []byte) error {
	if err := parseBody(body, b); err != nil {
		return err
	}
	if b.Give == nil {
		return errors.New("give: say true, or false to reject")
	}
	return nil
}

// serveDecision answers POST /restwarden/confirmations/<id>.
func serveDecision(w http.ResponseWriter, a adminRequest) error {
	var b decisionBody
	if err := a.body(w, b.parse); err != nil {
		return err
	}
	for _, s := range a.app.confirming() {
		c, err := s.desk.Decide(a.r.Context(), a.id, *b.Give, "admin, "+a.by())
		switch {
		case errors.Is(err, confirm.ErrUnknown):
			continue // it may be another site's
		case errors.Is(err, confirm.ErrDecided):
			return adminError(http.StatusConflict, err)
		case err != nil:
			return adminError(http.StatusServiceUnavailable, err)
		}
		w.Header().Set("Cache-Control", "no-store")
		return writeJSON(w, s.confirmation(a.r.Context(), c))
	}
	return adminError(http.StatusNotFound, confirm.ErrUnknown)
}
