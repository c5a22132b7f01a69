package policies

import (
	"errors"

	"github.com/restwarden/restwarden/policies/call"
)

// Reading is the policy call: it refuses requests that have no certain reading.
// Its limits are set with body_limit, upload_limit, spool_limit and batch_limit
// of the directive, since the reader needs them before any policy is asked.
type Reading struct{}

// CheckReading refuses what the reader refused. A call under another platform's
// prefix could not be read with the right names: that is no decision.
func (*Reading) CheckReading(r *Request) (Verdict, error) {
	if r.Call.Foreign {
		return Verdict{}, ErrForeign
	}
	if r.Call.Kind == call.Refused {
		return Verdict{}, r.Call.Refusal
	}
	return Verdict{}, nil
}

// ErrForeign says that the directive names the wrong platform.
var ErrForeign = errors.New("the call is under the other platform's prefix: check the platform named behind restwarden")
