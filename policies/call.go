package policies

import (
	"context"

	"github.com/restwarden/restwarden/policies/policy"
)

// readingEntry is the policy in the catalog.
var readingEntry = policy.Entry{
	Name:    "call",
	Words:   []string{"call"},
	Default: true,
	New:     func() policy.Policy { return new(Reading) },
	Codes:   append([]policy.Code{policy.CodeMisread}, policy.ReadingCodes...),
}

// Reading is the policy call. It refuses requests that have no certain reading. The
// directive's body_limit, upload_limit, spool_limit and batch_limit set its limits, since
// the reader needs them before any policy is asked.
type Reading struct{}

// CheckReading refuses what the reader refused, and a route that is not certain.
func (*Reading) CheckReading(r *policy.Request) (policy.Verdict, error) {
	return policy.CheckReading(r)
}

// CheckPreflight refuses the same route: the platform would ask the endpoints of another one.
func (*Reading) CheckPreflight(_ context.Context, r *policy.Request) (policy.Verdict, error) {
	return policy.Verdict{}, r.Bent()
}

// GuardsReading implements review.ReadingGuard.
func (*Reading) GuardsReading() bool { return true }
