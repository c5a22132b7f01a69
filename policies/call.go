package policies

import (
	"context"
	"errors"

	"github.com/restwarden/restwarden/policies/call"
)

// Reading is the policy call: it refuses requests that have no certain reading.
// Its limits are set with body_limit, upload_limit, spool_limit and batch_limit
// of the directive, since the reader needs them before any policy is asked.
type Reading struct {
	Common
}

// Configure takes what all policies take.
func (p *Reading) Configure(o Option) error {
	return p.onlyCommon(o)
}

// Provision has nothing to prepare.
func (p *Reading) Provision(*Site) error { return nil }

// Check refuses what the reader refused. A call under the other platform's
// prefix could not be read with the right names: that is no decision.
func (p *Reading) Check(_ context.Context, r *Request) (Verdict, error) {
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
