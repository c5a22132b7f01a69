// Package ask is how the gateway asks the platform: a [Question] is one request to it,
// an [Answer] is what it said, a [Backend] is the way there.
//
// A question is built in one place, by caller.Whole, which knows the request on whose
// behalf it is asked: the same install, the same form of address, and the credentials of
// whom the question names in As.
package ask

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Backend asks the platform questions on behalf of one client request.
type Backend interface {
	// Ask sends q and returns the platform's answer, whatever its status. It
	// returns an error where no complete answer came: time-out, cancellation,
	// a truncated or too large body, a redirect, a server fault (5xx).
	// The answer's header is the platform's and must not be sent to clients.
	Ask(ctx context.Context, q Question) (*Answer, error)
	// Detach returns a Backend that may be used after the client request has ended.
	// It is called by the goroutine of that request.
	Detach() Backend
}

// Question is one request to the platform.
type Question struct {
	Kind  Kind   // for metrics
	Route string // "/wp/v2/users/me", built from constants and checked ids only
	Page  string // a path below the base in place of a route, "/wp-admin/admin-ajax.php"
	Query string // encoded, "context=edit"

	Method string // GET unless set
	Body   []byte // JSON, for the few questions that are not GET

	As  As     // whose credentials it carries
	Key string // "key:secret" where As is AsKey

	Base   string      // Call.Base of the client's request
	Form   call.Form   // as the client's request
	Header http.Header // the credentials that stand in headers; not to be changed
}

// As says whose credentials a question carries.
type As uint8

// The credentials of questions.
const (
	AsCaller As = iota // exactly the client's
	AsNobody           // none
	AsKey              // a shop key
)

// Kind names a kind of question in the metrics.
type Kind string

// The kinds of questions.
const (
	KindCaller Kind = "caller"
	KindRecord Kind = "record"
	KindCart   Kind = "cart"
	KindSchema Kind = "schema"
	KindIndex  Kind = "index"
)

// Kinds lists all kinds of questions.
var Kinds = []Kind{KindCaller, KindRecord, KindCart, KindSchema, KindIndex}

// ErrUndecided is wrapped by errors of questions that got no usable answer.
var ErrUndecided = errors.New("could not decide")

// ErrTooMany is returned where a client has had more questions asked than
// identity { rate } allows.
var ErrTooMany = errors.New("too many identity questions of one address")

// Trace is told of questions. Both functions may be nil, and so may the Trace: then
// nothing is done. They are called by several goroutines at once.
type Trace struct {
	// Asked is told of a question that was sent, with its answer or error, and how
	// long it took.
	Asked func(q Question, a *Answer, err error, took time.Duration)
	// Known is told of a question that was not sent, since its answer is known.
	Known func(kind Kind)
}

// Send sends q by b, and tells t.
func Send(ctx context.Context, b Backend, t *Trace, q Question) (*Answer, error) {
	if t == nil || t.Asked == nil {
		return b.Ask(ctx, q)
	}
	start := time.Now()
	a, err := b.Ask(ctx, q)
	t.Asked(q, a, err, time.Since(start))
	return a, err
}

// Traced returns a Backend whose questions t is told of.
func Traced(b Backend, t *Trace) Backend { return traced{b, t} }

type traced struct {
	Backend
	trace *Trace
}

// Ask implements Backend.
func (b traced) Ask(ctx context.Context, q Question) (*Answer, error) {
	return Send(ctx, b.Backend, b.trace, q)
}

// Detach implements Backend.
func (b traced) Detach() Backend { return traced{b.Backend.Detach(), b.trace} }

// Remembered tells t that a question of this kind was not needed.
func (t *Trace) Remembered(kind Kind) {
	if t != nil && t.Known != nil {
		t.Known(kind)
	}
}
