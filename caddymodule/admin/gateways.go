package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/policies/policy"
)

// Gateways are those of the configuration that runs. A parameter site is one of Names; by says
// who asks.
type Gateways interface {
	// Names returns the names of the guarded sites, each once.
	Names() []string
	// Statuses returns the state of each site, once for each directive with a mode or addresses of its own.
	Statuses() []adminapi.Site
	// Operator returns the name of the operator whom a request is from, if a proxy of the operators' own tells it.
	Operator(r *http.Request) (string, error)
	// OperatorHeader is the header in which such a proxy tells it; "" if there is none.
	OperatorHeader() string
	// Store returns the state of the Redis that gateways share; nil if there is none.
	Store() *adminapi.Store
	// Refusals returns the last refusals of a site, the newest first.
	Refusals(site string) []adminapi.Refusal

	// SwitchMode gives a site a mode for a time. 0 ends the switch.
	SwitchMode(site string, mode policy.Mode, lasts time.Duration, by adminapi.By) adminapi.Switched
	// SwitchLockdown closes a site, or all for "", for a time. 0 ends the switch.
	SwitchLockdown(site string, hard bool, lasts time.Duration, by adminapi.By) adminapi.Switched

	// SwitchOpen opens calls of a site to anyone for a time, and SwitchClose closes them to everybody whom the platform has not
	// verified. 0 takes a line back. The error is a [Refused] where nothing was switched.
	SwitchOpen(site string, line adminapi.LineSwitch, lasts time.Duration, by adminapi.By) (adminapi.LineSwitched, error)
	SwitchClose(site string, line adminapi.LineSwitch, lasts time.Duration, by adminapi.By) (adminapi.LineSwitched, error)

	// Confirmations returns the calls that wait for a person, or did.
	Confirmations(ctx context.Context) ([]adminapi.Confirmation, error)
	// Decide lets a person give or reject a confirmation. The error may be confirm.ErrUnknown or
	// confirm.ErrDecided.
	Decide(ctx context.Context, id string, give bool, by adminapi.By) (adminapi.Confirmation, error)

	// Followers are those who receive refusals of all sites as they happen, across reloads.
	Followers() *refusals.Followers
}

// RefusedError says why a line is not switched, with the status of HTTP that says so.
type RefusedError struct {
	Status int
	Why    string
}

func (e *RefusedError) Error() string { return e.Why }
