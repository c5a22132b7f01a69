package admin

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// modeBody is the body of POST sites/<site>/mode.
type modeBody struct{ adminapi.ModeSwitch[*lasting] }

// lockdownBody is the body of POST lockdown.
type lockdownBody struct {
	adminapi.LockdownSwitch[*lasting]
}

// parse returns what a mode switch is to be.
func (b *modeBody) parse(body []byte) error {
	switch err := parseBody(body, b); {
	case err != nil:
		return err
	case b.For == nil:
		return errFor
	case b.Mode == "" && *b.For == 0: // the switch ends, whatever it was
		return nil
	case b.Mode != policy.Observe && b.Mode != policy.Enforce:
		return fmt.Errorf("mode: %q is neither observe nor enforce", b.Mode)
	}
	return nil
}

// parse returns what a lockdown is to be.
func (b *lockdownBody) parse(body []byte) error {
	switch err := parseBody(body, b); {
	case err != nil:
		return err
	case b.For == nil:
		return errFor
	case b.Site != nil && *b.Site == "":
		return errors.New("site: leave it out for all sites")
	}
	return nil
}

var errFor = errors.New(`for: say how long, "2h"; "0s" ends it`)

// serveMode answers POST sites/<site>/mode.
func serveMode(w http.ResponseWriter, r request) error {
	var b modeBody
	if err := r.read(w, b.parse); err != nil {
		return err
	}
	by, err := r.by()
	if err != nil {
		return err
	}
	return writeJSON(w, r.gateways.SwitchMode(r.name, b.Mode, time.Duration(*b.For), by))
}

// serveLockdown answers POST lockdown.
func serveLockdown(w http.ResponseWriter, r request) error {
	var b lockdownBody
	if err := r.read(w, b.parse); err != nil {
		return err
	}
	site := ""
	if b.Site != nil {
		if err := r.guarded(*b.Site); err != nil {
			return err
		}
		site = *b.Site
	}
	by, err := r.by()
	if err != nil {
		return err
	}
	return writeJSON(w, r.gateways.SwitchLockdown(site, b.Hard, time.Duration(*b.For), by))
}
