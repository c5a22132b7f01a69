package policies

import (
	"context"
	"errors"

	"github.com/restwarden/restwarden/policies/call"
)

// Reading is the policy call. It refuses requests that have no certain reading. The
// directive's body_limit, upload_limit, spool_limit and batch_limit set its limits, since
// the reader needs them before any policy is asked.
type Reading struct{}

// CheckReading refuses what the reader refused, and a route that is not certain. A call under another platform's prefix
// cannot be read with the right names, so it returns ErrForeign: "could not decide".
func (*Reading) CheckReading(r *Request) (Verdict, error) {
	if r.Call.Foreign {
		return Verdict{}, ErrForeign
	}
	if r.Call.Kind == call.Refused {
		return Verdict{}, r.Call.Refusal
	}
	return Verdict{}, bentRoute(r)
}

// CheckPreflight refuses the same route: the platform would ask the endpoints of another one.
func (*Reading) CheckPreflight(_ context.Context, r *Request) (Verdict, error) {
	return Verdict{}, bentRoute(r)
}

func bentRoute(r *Request) error {
	if r.Call.Bent(r.Site.dots) {
		return errRouteDot
	}
	return nil
}

// GuardsReading implements ReadingGuard.
func (*Reading) GuardsReading() bool { return true }

// ErrForeign says that the directive names the wrong platform.
var ErrForeign = errors.New("the call is under the other platform's prefix: check the platform named behind restwarden")
