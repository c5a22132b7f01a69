package policy

import (
	"errors"

	"github.com/restwarden/restwarden/policies/call"
)

// CheckReading refuses a request without a certain reading, and a route that is not certain. A
// call under another platform's prefix cannot be read with the right names, so it returns
// ErrForeign: "could not decide".
func CheckReading(r *Request) (Verdict, error) {
	if r.Call.Foreign {
		return Verdict{}, ErrForeign
	}
	if r.Call.Kind == call.Refused {
		return Verdict{}, r.Call.Refusal
	}
	return Verdict{}, r.Bent()
}

// Bent returns the refusal of a call whose route is that of another one but for a dot, or nil.
func (r *Request) Bent() error {
	if r.Call.Bent(r.Site.dots) {
		return errRouteDot
	}
	return nil
}

// ErrForeign says that the directive names the wrong platform.
var ErrForeign = errors.New("the call is under the other platform's prefix: check the platform named behind restwarden")
