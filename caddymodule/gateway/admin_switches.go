package gateway

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/policy"
)

// maxAdminBody bounds, in bytes, the body of a request that switches.
const maxAdminBody = 4 << 10

// modeBody is the body of POST /restwarden/sites/<site>/mode.
type modeBody struct{ adminapi.ModeSwitch[*lasting] }

// lockdownBody is the body of POST /restwarden/lockdown.
type lockdownBody struct {
	adminapi.LockdownSwitch[*lasting]
}

// lasting is how long a switch is to be on, in JSON as text: "2h", "1d12h". 0 is off.
type lasting time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lasting) UnmarshalText(text []byte) error {
	d, err := policy.ParseDuration(string(text))
	switch {
	case err != nil:
		return err
	case d < 0 || d > switches.MaxTime:
		return fmt.Errorf("%s is not between 0s and %dd", text, switches.MaxTime/(24*time.Hour))
	case d > 0 && d < time.Millisecond:
		return fmt.Errorf("%s is too short", text)
	}
	*l = lasting(d)
	return nil
}

// parseBody reads a strict JSON object into v. The error names the first field at fault.
func parseBody(body []byte, v any) error {
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false))
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && semantic.JSONPointer != "" {
		field := strings.TrimPrefix(string(semantic.JSONPointer), "/")
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return fmt.Errorf("unknown field %q", field)
		case semantic.Err != nil:
			return fmt.Errorf("%s: %w", field, semantic.Err)
		}
		return fmt.Errorf("%s: wrong type", field)
	}
	return fmt.Errorf("the body is not the JSON object that is expected: %w", err)
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

// tell says in the answer to a switch which gateways know, if telling the others has returned err.
func (a *App) tell(answer *adminapi.Switched, err error) {
	answer.Gateways = adminapi.ThisGateway
	switch {
	case err != nil:
		answer.Error = "the other gateways could not be told, and will be once the store answers: " + err.Error()
	case a.shared != nil:
		answer.Gateways = adminapi.AllGateways
	}
}

// serveMode answers POST /restwarden/sites/<site>/mode.
func serveMode(w http.ResponseWriter, a adminRequest) error {
	var b modeBody
	if err := a.body(w, b.parse); err != nil {
		return err
	}
	err := a.app.running.board.SetMode(a.site.Name, b.Mode, time.Duration(*b.For), a.by())
	st := a.site.status(time.Now())
	answer := adminapi.Switched{Site: a.site.Name, Mode: st.Mode, Until: st.ModeUntil, Lockdown: st.Lockdown}
	if st.Lockdown != nil {
		answer.Sites = 1
	}
	a.app.tell(&answer, err)
	return writeJSON(w, answer)
}

// serveLockdown answers POST /restwarden/lockdown.
func serveLockdown(w http.ResponseWriter, a adminRequest) (err error) {
	var b lockdownBody
	if err := a.body(w, b.parse); err != nil {
		return err
	}
	name, sites := "", a.app.sites()
	if b.Site != nil {
		named, err := a.app.siteNamed(*b.Site)
		if err != nil {
			return err
		}
		name, sites = named.Name, []*site{named}
	}
	err = a.app.running.board.SetLockdown(name, b.Hard, time.Duration(*b.For), a.by())
	answer, now := adminapi.Switched{Site: name}, time.Now()
	for _, one := range sites {
		on := one.state.lockdown(now)
		if on == nil {
			continue
		}
		answer.Sites++
		if b.Site != nil {
			answer.Lockdown = on
		}
	}
	if on, ok := a.app.running.board.AllLocked(now); ok && b.Site == nil { // a site may have its own as well
		answer.Lockdown = &adminapi.Lockdown{Until: on.Until, Hard: on.Hard, All: true}
	}
	a.app.tell(&answer, err)
	return writeJSON(w, answer)
}

// body reads and parses the body of a request that switches.
func (a adminRequest) body(w http.ResponseWriter, parse func([]byte) error) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, a.r.Body, maxAdminBody))
	if err == nil {
		err = parse(body)
	}
	if err != nil {
		return adminError(http.StatusBadRequest, err)
	}
	return nil
}

// by says for the log who switches.
func (a adminRequest) by() string {
	if host, _, err := net.SplitHostPort(a.r.RemoteAddr); err == nil && host != "" {
		return host
	}
	return "the socket of the admin endpoint"
}
