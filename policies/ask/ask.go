// Package ask puts questions to the platform: a [Question] is one request of the gateway,
// an [Answer] is the complete response, a [Backend] carries both.
//
// caller.Whole completes every question that belongs to a client's request. It adds the
// install and the form of address of that request, and the credentials that the question
// names in As.
//
// A [Trace] reports questions for metrics and log. Every error of a question without a
// usable answer wraps [ErrUndecided].
package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Backend puts questions to the platform on behalf of one client request.
type Backend interface {
	// Ask sends q and returns the platform's answer, whatever its status below 500. It
	// returns an error if no complete answer came: time-out, cancellation, a truncated or
	// too large body, a redirect, a server fault (5xx). The answer's header is the
	// platform's and must not be sent to clients.
	Ask(ctx context.Context, q Question) (*Answer, error)
	// Detach returns a Backend that may be used after the client request has ended. The
	// goroutine of that request must call it.
	Detach() Backend
}

// Question is one request to the platform.
type Question struct {
	Kind  Kind   // for metrics
	Route string // "/wp/v2/users/me", built from constants and checked ids only
	Page  string // a path below the base in place of a route, "/wp-admin/admin-ajax.php"
	Query string // encoded, "context=edit"

	Method string // "" means GET
	Body   []byte // JSON, for the few questions that are not GET

	// Fresh is random text in the address, so that no other question and no client's request has
	// that address: a cache on the way may take the address for all that decides an answer.
	Fresh string

	// Envelope asks for the answer in the platform's envelope, out of which Send takes it.
	Envelope bool
	// Slash puts a slash behind the route, which the platform cuts off again, for a server that
	// redirects addresses without one.
	Slash bool
	// Either is true if the platform answers the question alike in both forms of address, whatever
	// the form of the client's request. ByQuery puts a pretty one into the query, for a server that
	// closes its path.
	Either, ByQuery bool
	// Again returns this question with other values of Envelope and Slash where it has a signature
	// of its own; else it is nil.
	Again func(envelope, slash bool) Question

	As  As     // whose credentials it carries
	Key string // "key:secret" if As is AsKey

	Base      string          // Call.Base of the client's request
	Form      call.Form       // as in the client's request
	Rewritten *call.Rewritten // Call.Rewritten of the client's request
	Header    http.Header     // the credentials that are headers; must not be changed

	// Read is called with the body of an answer 200, unless it is nil, and must not keep it. The
	// question counts as under way until Read has returned: of large answers, no more wait to be read.
	Read func(body []byte) error

	// Else is sent in place of this question if the shop refuses its signature. It may be nil.
	Else *Question
}

// As says whose credentials a question carries.
type As uint8

// The credentials of questions.
const (
	AsCaller As = iota // exactly the client's
	AsNobody           // none
	AsKey              // a shop key
)

// Kind is the kind of a question, a label of the metrics.
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

// ErrUndecided is wrapped by the errors of questions without a usable answer.
var ErrUndecided = errors.New("could not decide")

// LateError is the error of a question that had no answer within its time.
type LateError struct {
	Timeout time.Duration // as configured
	Err     error         // an error that wraps context.DeadlineExceeded
}

// Error implements error.
func (l *LateError) Error() string {
	return fmt.Sprintf("no answer within identity { timeout %s }: %v", l.Timeout, l.Err)
}

// Unwrap returns the error of the question.
func (l *LateError) Unwrap() error { return l.Err }

// Note says in one sentence, for the operator, what the cause is and what to change.
func (l *LateError) Note() string {
	return fmt.Sprintf("The site did not answer the gateway's question within %s: PHP is slow or has no free worker. Of the questions that take longer than identity { timeout }, the gateway waits for as many as max_in_flight allows.", l.Timeout)
}

// DownError is the error of a question that did not reach the platform, or whose answer was
// cut off.
type DownError struct{ Err error }

// Error implements error.
func (d *DownError) Error() string { return fmt.Sprintf("the site cannot be reached: %v", d.Err) }

// Unwrap returns the error of the connection.
func (d *DownError) Unwrap() error { return d.Err }

// Note says in one sentence, for the operator, what the cause is.
func (d *DownError) Note() string {
	return "The server behind the gateway cannot be reached, or ends the connection."
}

// LeftError is the error of a question whose time was over before the platform had answered.
// The question goes on by itself: some backends do not hear that nobody waits.
type LeftError struct {
	Ended <-chan struct{} // closed when the question has ended
	Err   error           // why nobody waits, context.DeadlineExceeded
}

// Error implements error.
func (l *LeftError) Error() string { return l.Err.Error() }

// Unwrap returns why nobody waits.
func (l *LeftError) Unwrap() error { return l.Err }

// AfterQuestion calls ended once the question that returned err has ended: at once, or in
// the background if err is a [LeftError].
func AfterQuestion(err error, ended func()) {
	left, ok := errors.AsType[*LeftError](err)
	if !ok {
		ended()
		return
	}
	go func() {
		<-left.Ended
		ended()
	}()
}

// Noted returns err with one sentence for the operator: what the cause is, or what to change.
func Noted(err error, sentence string) error { return &notedError{err, sentence} }

type notedError struct {
	error
	note string
}

// Unwrap returns the error without its note.
func (n *notedError) Unwrap() error { return n.error }

// Note returns the sentence.
func (n *notedError) Note() string { return n.note }

// ErrTooMany is returned if a client has caused more questions than identity { rate }
// allows.
var ErrTooMany = errors.New("too many identity questions of one address")

// Trace reports questions. Both functions may be nil, and so may the Trace; a nil
// function is skipped. Several goroutines call them at once.
type Trace struct {
	// Asked reports a question that was sent, with its answer or error and its duration.
	Asked func(q Question, a *Answer, err error, took time.Duration)
	// Known reports a question that was not sent, since its answer is known.
	Known func(kind Kind)
}

// Send sends q by b and reports it to t. If the shop refuses the signature of q, Send sends
// q.Else too, and returns the answer to q only if the shop refuses that as well. If a server may
// have replaced the body of the answer, Send asks for it in an envelope, and returns the first
// answer only if there is none; before that it puts a question with Either into the query. If a server wants a slash behind the route, Send puts it there.
// Answer and error are otherwise those of b.
func Send(ctx context.Context, b Backend, t *Trace, q Question) (*Answer, error) {
	a, err := sendEither(ctx, b, t, q)
	if _, slash := errors.AsType[*SlashError](err); slash && q.reads() && !q.Slash {
		q = q.again(q.Envelope, true)
		a, err = sendEither(ctx, b, t, q)
	}
	if err != nil || !q.lost(a) {
		return a, err
	}
	again, err := sendEither(ctx, b, t, q.again(true, q.Slash))
	if !isServers(again, err) {
		return again, err
	}
	if q.mayTurn() && a.Status != http.StatusOK {
		q.ByQuery = true
		if again, err = sendEither(ctx, b, t, q.again(true, false)); !isServers(again, err) {
			return again, err
		}
	}
	return a, nil
}

// sendEither sends q, and q.Else where the shop refuses the signature of q.
func sendEither(ctx context.Context, b Backend, t *Trace, q Question) (*Answer, error) {
	a, err := send(ctx, b, t, q)
	if q.Else == nil || err != nil || !a.refusesKey() {
		return a, err
	}
	other, err := send(ctx, b, t, *q.Else)
	if err == nil && other.refusesKey() {
		return a, nil
	}
	return other, err
}

// send sends one question, takes the answer out of its envelope, and marks one that the caller
// may have.
func send(ctx context.Context, b Backend, t *Trace, q Question) (*Answer, error) {
	start := time.Now()
	a, err := b.Ask(ctx, q)
	if err == nil && q.Envelope {
		if inner := a.opened(); inner != nil {
			a = inner
		}
		if a.Status >= 500 || a.Status >= 300 && a.Status < 400 {
			a, err = nil, Unexpected(a)
		}
	}
	if t != nil && t.Asked != nil {
		t.Asked(q, a, err, time.Since(start))
	}
	if forCaller := err == nil && q.forCaller(a); forCaller || err == nil && (q.Slash || q.ByQuery) {
		marked := *a
		marked.ForCaller, marked.Slash, marked.ByQuery = forCaller, q.Slash, q.ByQuery
		return &marked, nil
	}
	return a, err
}

// reads tells whether q changes nothing, so that it may be put twice.
func (q *Question) reads() bool {
	return q.Method == "" || q.Method == http.MethodGet || q.Method == http.MethodOptions
}

// again returns q with other values of Envelope and Slash.
func (q *Question) again(envelope, slash bool) Question {
	if q.Again != nil {
		return q.Again(envelope, slash)
	}
	again := *q
	again.Envelope, again.Slash = envelope, slash
	return again
}

// Traced returns a Backend that reports its questions to t.
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

// Remembered reports that the answer to a question of this kind was known.
func (t *Trace) Remembered(kind Kind) {
	if t != nil && t.Known != nil {
		t.Known(kind)
	}
}
