package policy

import "github.com/restwarden/restwarden/policies/call"

// Entry is one policy of the catalog.
type Entry struct {
	Name string // in Caddyfile, JSON, metrics, logs and docs
	// Words are the options of the directive that the policy takes. A refusal by the
	// policy as a whole names the line of the first word, wherever that line stands.
	// Without such a line it names the first line of the policy.
	Words []string
	// Default tells whether the policy is on if the configuration does not name it.
	Default bool
	New     func() Policy
	// Codes are the codes of the policy's refusals, beside "could not decide" and the
	// ReadingCodes. They are the closed set of its metrics labels.
	Codes []Code
}

// ReadingCodes are the codes of requests that have no certain reading. Any policy that
// looks into a body may return one.
var ReadingCodes = []Code{call.CodeAmbiguous, call.CodeTooLarge, call.CodeUnsupportedType, call.CodeTooEarly, call.CodeNoRoute}
