// Package call works out which REST call a request really makes, reading it as
// the platform's own PHP and router do (design "From request to Call";
// platform-facts part I). Where two readings are possible it refuses.
package call

import "fmt"

// Kind says what a request is to the platform.
type Kind uint8

const (
	Page    Kind = iota // not REST: the platform renders a page, a file, a form
	Single              // one REST call
	Batch               // several REST calls in one request, see Call.Parts
	Refused             // no certain reading, see Call.Refusal
)

// String returns the word used in logs, vars and the output of classify.
func (k Kind) String() string {
	return [...]string{"page", "call", "batch", "refused"}[k]
}

// Form is the way in which a request names its route.
type Form uint8

const (
	Pretty Form = iota // the prefix in the path
	Query              // the variable rest_route, in the query or in a form body
)

// Call is the reading of one request, or of one part of a batch.
type Call struct {
	Kind    Kind
	Route   string   // as the platform dispatches it, "/wp/v2/users": case as sent, no trailing slash
	Key     string   // Route folded to lower case, what patterns are matched against
	Method  string   // effective method, upper case
	Wire    string   // method of the request line
	Form    Form     // addressing form
	Base    string   // what stands before the prefix, "" or "/blog"; the base of questions to the platform
	Parts   []*Call  // of a batch, each judged as if sent alone; nil else
	Refusal *Refusal // set where Kind is Refused

	src *source // where the parameters come from
}

// Refusal is a request that has no certain reading, or one that is over a limit.
type Refusal struct {
	Status int    // 400, 404, 413, 415 or 503
	Code   string // "rest_ambiguous_request", "rest_request_too_large", "rest_no_route", …
	Reason string // one of a closed set of words, for logs and explain; never shown to clients
}

// Error lets a Refusal travel as an error.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Reason) }

type source struct{}
