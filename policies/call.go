package policies

import "context"

// ReadingEntry is the policy in the catalog.
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

// CheckReading refuses what the reader refused, and a route that is not certain.
func (*Reading) CheckReading(r *Request) (Verdict, error) { return CheckReading(r) }

// CheckPreflight refuses the same route: the platform would ask the endpoints of another one.
func (*Reading) CheckPreflight(_ context.Context, r *Request) (Verdict, error) {
	return Verdict{}, r.Bent()
}

// GuardsReading implements ReadingGuard.
func (*Reading) GuardsReading() bool { return true }
