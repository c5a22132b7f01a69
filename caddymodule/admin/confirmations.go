package admin

import (
	"errors"
	"net/http"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/confirm"
)

// serveConfirmations answers GET confirmations.
func serveConfirmations(w http.ResponseWriter, r request) error {
	all, err := r.gateways.Confirmations(r.Context())
	if err != nil {
		return failed(http.StatusServiceUnavailable, err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, adminapi.Confirmations{Version: adminapi.Version, Confirmations: append([]adminapi.Confirmation{}, all...)})
}

// decisionBody is the body of POST confirmations/<id>.
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

// serveDecision answers POST confirmations/<id>.
func serveDecision(w http.ResponseWriter, r request) error {
	var b decisionBody
	if err := r.read(w, b.parse); err != nil {
		return err
	}
	by, err := r.by()
	if err != nil {
		return err
	}
	by.Address = "admin, " + by.Address
	c, err := r.gateways.Decide(r.Context(), r.name, *b.Give, by)
	switch {
	case errors.Is(err, confirm.ErrUnknown):
		return failed(http.StatusNotFound, err)
	case errors.Is(err, confirm.ErrDecided):
		return failed(http.StatusConflict, err)
	case err != nil:
		return failed(http.StatusServiceUnavailable, err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, c)
}
