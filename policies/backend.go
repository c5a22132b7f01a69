package policies

import (
	"context"
	"errors"
)

// Backend asks the platform questions on behalf of one client request.
type Backend interface {
	// Ask sends q and returns the platform's answer, whatever its status. It
	// returns an error where no complete answer came: time-out, cancellation,
	// a truncated or too large body, a redirect, a server fault (5xx).
	// The answer's header is the platform's and must not be sent to clients.
	Ask(ctx context.Context, q Question) (*Answer, error)
}

// Question is one request to the platform.
type Question struct {
	Kind  LookupKind // for metrics
	Route string     // "/wp/v2/users/me", built from constants and checked ids only
	Page  string     // a path below the base in place of a route, "/wp-admin/admin-ajax.php"
	Query string     // encoded, "context=edit"

	Method string // GET unless set
	Body   []byte // JSON, for the few questions that are not GET

	As   Credential // whose credentials it carries
	Key  string     // "key:secret" where As is AsKey
	Base string     // Call.Base of the client's request
	Form bool       // in the query form, as the client's request
}

// Credential says whose credentials a question carries.
type Credential uint8

const (
	AsCaller Credential = iota // exactly the client's
	AsNobody                   // none
	AsKey                      // a shop key of the gateway's own
)

// LookupKind names a kind of question in the metrics.
type LookupKind string

const (
	LookupCaller LookupKind = "caller"
	LookupRecord LookupKind = "record"
	LookupCart   LookupKind = "cart"
	LookupSchema LookupKind = "schema"
	LookupIndex  LookupKind = "index"
)

// LookupKinds lists all kinds of questions.
var LookupKinds = []LookupKind{LookupCaller, LookupRecord, LookupCart, LookupSchema, LookupIndex}

// ErrUndecided is wrapped by errors of questions that got no usable answer.
var ErrUndecided = errors.New("could not decide")

// ErrTooManyQuestions is returned where a client has had more questions asked
// than identity { rate } allows.
var ErrTooManyQuestions = errors.New("too many identity questions of one address")
