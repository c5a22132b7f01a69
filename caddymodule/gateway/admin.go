package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/admin"
	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/policy"
)

func init() {
	caddy.RegisterModule(admin.New(func() admin.Gateways {
		if app := current.Load(); app != nil {
			return endpoint{app}
		}
		return nil
	}))
}

// endpoint is the app as the admin endpoint asks it.
type endpoint struct{ app *App }

// Names implements admin.Gateways.
func (e endpoint) Names() (names []string) {
	for _, s := range e.app.sites() {
		names = append(names, s.Name)
	}
	return names
}

// named returns the site of a name that is one of Names.
func (e endpoint) named(name string) *site {
	return e.app.sitesWith(func(s *site) bool { return s.Name == name })[0]
}

// Store implements admin.Gateways.
func (e endpoint) Store() *adminapi.Store {
	if redis, ok := e.app.shared.(*redisstore.Store); ok {
		return redis.Status()
	}
	return nil
}

// Operator implements admin.Gateways.
func (e endpoint) Operator(r *http.Request) (string, error) { return e.app.Operators.of(r) }

// OperatorHeader implements admin.Gateways.
func (e endpoint) OperatorHeader() string {
	if e.app.Operators == nil {
		return ""
	}
	return e.app.Operators.Header
}

// Refusals implements admin.Gateways.
func (e endpoint) Refusals(site string) []adminapi.Refusal { return e.named(site).state.last.All() }

// SwitchMode implements admin.Gateways.
func (e endpoint) SwitchMode(site string, mode policy.Mode, lasts time.Duration, by adminapi.By) adminapi.Switched {
	err := e.app.running.board.SetMode(site, mode, lasts, by)
	st := e.named(site).status(time.Now())
	answer := adminapi.Switched{Site: site, Mode: st.Mode, Until: st.ModeUntil, Lockdown: st.Lockdown}
	if st.Lockdown != nil {
		answer.Sites = 1
	}
	e.app.tell(&answer, err)
	return answer
}

// SwitchLockdown implements admin.Gateways.
func (e endpoint) SwitchLockdown(name string, hard bool, lasts time.Duration, by adminapi.By) adminapi.Switched {
	err := e.app.running.board.SetLockdown(name, hard, lasts, by)
	answer, now := adminapi.Switched{Site: name}, time.Now()
	for _, s := range e.app.sitesWith(func(s *site) bool { return name == "" || s.Name == name }) {
		on := s.state.lockdown(now)
		if on == nil {
			continue
		}
		answer.Sites++
		if name != "" {
			answer.Lockdown = on
		}
	}
	if on, ok := e.app.running.board.AllLocked(now); ok && name == "" { // a site may have its own as well
		answer.Lockdown = &adminapi.Lockdown{Until: on.Until, Hard: on.Hard, All: true}
	}
	e.app.tell(&answer, err)
	return answer
}

// tell says in the answer to a switch which gateways know, if telling the others has returned err.
func (a *App) tell(answer *adminapi.Switched, err error) {
	answer.Gateways = adminapi.ThisGateway
	if a.shared != nil && !errors.Is(err, switches.ErrUntold) {
		answer.Gateways = adminapi.AllGateways
	}
	if err != nil {
		answer.Error = strings.ReplaceAll(err.Error(), "\n", ": ")
	}
}

// Followers implements admin.Gateways.
func (e endpoint) Followers() *refusals.Followers { return &e.app.running.followers }

// Confirmations implements admin.Gateways.
func (e endpoint) Confirmations(ctx context.Context) (all []adminapi.Confirmation, err error) {
	for _, s := range e.app.confirming() {
		list, err := s.desk.Ledger.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			all = append(all, s.confirmation(ctx, c))
		}
	}
	return all, nil
}

// Decide implements admin.Gateways.
func (e endpoint) Decide(ctx context.Context, id string, give bool, by adminapi.By) (adminapi.Confirmation, error) {
	for _, s := range e.app.confirming() {
		c, err := s.desk.Decide(ctx, id, give, by)
		switch {
		case errors.Is(err, confirm.ErrUnknown): // it may be another site's
		case err != nil:
			return adminapi.Confirmation{}, err
		default:
			return s.confirmation(ctx, c), nil
		}
	}
	return adminapi.Confirmation{}, confirm.ErrUnknown
}
