package policy

import (
	"context"
	"errors"

	"github.com/restwarden/restwarden/policies/call"
)

// ReadingEntry is the policy call in the catalog.
var ReadingEntry = Entry{
	Name:    "call",
	Words:   []string{"call"},
	Default: true,
	New:     func() Policy { return new(Reading) },
	Codes:   append([]Code{CodeMisread}, ReadingCodes...),
}

// Reading is the policy call. It refuses requests that have no certain reading. The
// directive's body_limit, upload_limit, spool_limit and batch_limit set its limits, since
// the reader needs them before any policy is asked.
type Reading struct{}

// CheckReading implements [ReadingChecker].
func (*Reading) CheckReading(r *Request) (Verdict, error) { return CheckReading(r) }

// CheckPreflight refuses the same route: the platform would ask the endpoints of another one.
func (*Reading) CheckPreflight(_ context.Context, r *Request) (Verdict, error) {
	return Verdict{}, r.Bent()
}

// GuardsReading implements ReadingGuard of package review.
func (*Reading) GuardsReading() bool { return true }

// CheckReading refuses what the reader refused, a route that is not certain, and a parameter in
// place of a word of the route. A call under another platform's prefix cannot be read with the
// right names, so it returns ErrForeign: "could not decide".
func CheckReading(r *Request) (Verdict, error) {
	if r.Call.Foreign {
		return Verdict{}, ErrForeign
	}
	if r.Call.Kind == call.Refused {
		return Verdict{}, r.Call.Refusal
	}
	if err := r.Bent(); err != nil {
		return Verdict{}, err
	}
	return Verdict{}, r.checkWords(r.Site.worded)
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
