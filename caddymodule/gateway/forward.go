package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/answers"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// recycled are the exchanges of pages that have ended.
var recycled = sync.Pool{New: func() any { return new(exchange) }}

func (x *exchange) recycle() {
	*x = exchange{}
	recycled.Put(x)
}

// rewriteLimit bounds, in bytes, an answer that is held back to be rewritten. The
// platform's largest collections are well below it.
const rewriteLimit = budget.BufferLimit

// forward sends the request on and the answer back. It leaves the answer untouched,
// unless a policy rewrites it or a watch needs it.
func (s *site) forward(w http.ResponseWriter, x *exchange) error {
	need := policy.RewriteNothing
	for i := range s.rewriters {
		p := &s.rewriters[i]
		if p.observes(x.req.InForce) {
			continue
		}
		if n := p.Rewrites(&x.req); n != policy.RewriteNothing {
			need = max(need, n)
			x.rewriters |= 1 << i
		}
	}
	by := s.watch(x)
	s.learn(x)
	switch {
	case need == policy.RewriteBody:
		return s.forwardBuffered(w, x, by)
	case need == policy.RewriteHeader || by.told != nil || s.looks(x):
		return s.forwardHeader(w, x, by)
	}
	return x.next.ServeHTTP(w, x.request())
}

// needsBody returns the name of the first policy that rewrites the body.
func (s *site) needsBody(x *exchange) string {
	for i, p := range s.rewriters {
		if x.rewriters&(1<<i) != 0 && p.Rewrites(&x.req) == policy.RewriteBody {
			return p.name
		}
	}
	return ""
}

// request returns the request to forward. After that no policy may look into the call, or into
// answers to questions about it.
func (x *exchange) request() *http.Request {
	x.req.Settle()
	x.answers.Close()
	return x.r
}

// renewVars gives the request a copy of its variables, for what is written after the handlers behind
// have answered: a connection that reverse_proxy still dials reads those that it was given. It
// changes the request itself, which handlers in front of the gateway and placeholders look into.
func (x *exchange) renewVars() {
	*x.r = *x.r.WithContext(context.WithValue(x.r.Context(), caddyhttp.VarsCtxKey, maps.Clone(varsOf(x.r))))
}

// watching is the function that learns how the platform answered.
type watching struct {
	told func(*ask.Answer) // nil for nearly all requests
	body bool              // told is called once caller.WatchedBody bytes have come
}

func (s *site) watch(x *exchange) (w watching) {
	w.told, w.body = s.Identities.Watch(&x.whole)
	for _, p := range s.watchers {
		if also := p.Watch(&x.req); also != nil {
			first := w.told
			w.told = func(a *ask.Answer) {
				if first != nil {
					first(a)
				}
				also(a)
			}
		}
	}
	return w
}

// forwardHeader streams the answer, passes its head to the watch and rewrites its header.
// If that fails, the client gets a refusal instead.
func (s *site) forwardHeader(w http.ResponseWriter, x *exchange, by watching) error {
	f := &x.answer
	if x.req.Call.Kind == call.Page {
		f = new(forwarding) // what writes too late must not meet another request
	}
	f.s, f.x, f.by, f.before = s, x, by, platforms.MarkHeadersOf(w.Header())
	f.w.Start(w, f)
	defer f.w.End() // also if the platform breaks off
	err := x.next.ServeHTTP(&f.w, x.request())
	if failed := f.w.Finish(err); failed != nil { // nobody may look into x any more
		clear(w.Header()) // it belongs to the platform's answer
		return s.unusable(w, x, failed)
	}
	return err
}

// forwarding is an answer on its way.
type forwarding struct {
	w      answers.Writer
	s      *site
	x      *exchange
	by     watching
	answer ask.Answer // status and header
	before platforms.MarkHeaders
}

// Head implements answers.HeadReader.
func (f *forwarding) Head(w *answers.Writer, status int) error {
	f.answer = ask.Answer{Status: status, Header: w.Header()}
	switch {
	case f.by.told == nil:
	case f.by.body:
		w.Watch(caller.WatchedBody, func(begin []byte) {
			f.by.told(&ask.Answer{Status: status, Header: w.Header(), Body: begin})
		})
	default:
		f.by.told(&f.answer)
	}
	if f.s.looks(f.x) {
		if err := f.s.judge(f.x, w.Header(), &f.before); err != nil {
			return err
		}
	}
	return f.s.rewrite(f.x, &f.answer)
}

// forwardBuffered holds the whole answer back until it is rewritten. It asks the platform
// for a plain, whole answer, since nobody can rewrite an encoded, partial or unchanged
// one. What is held until the client has taken it, is the rewritten body alone.
func (s *site) forwardBuffered(w http.ResponseWriter, x *exchange, by watching) error {
	r := x.request()
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"} {
		r.Header.Del(name)
	}
	r.Header.Set("Accept-Encoding", "identity")
	body := s.account(x).Buffer()
	defer func() { body.Close() }()
	held := answers.NewCapture(rewriteLimit, w.Header().Clone(), body)
	err := held.Run(x.next, r)
	answer := &ask.Answer{Status: held.Status(), Header: held.Header()}
	if by.told != nil && answer.Status != 0 {
		begin, _ := io.ReadAll(io.LimitReader(body.Reader(), caller.WatchedBody)) // what there is
		by.told(&ask.Answer{Status: answer.Status, Header: answer.Header, Body: begin})
	}
	if err != nil && !held.Spoiled(err) {
		return err // the site decides how to answer
	}
	if before := platforms.MarkHeadersOf(w.Header()); s.looks(x) && answer.Status != 0 {
		if err := s.judge(x, answer.Header, &before); err != nil {
			return s.unusable(w, x, err)
		}
	}
	if body, err = held.Plain(r.Method, body, err, s.account(x)); err != nil {
		return s.unusable(w, x, &rewriteError{s.needsBody(x), err})
	}
	if err := s.rewriteBody(x, answer, body); err != nil {
		return s.unusable(w, x, err)
	}
	return answers.Send(w, r, answer, body)
}

// learn lets policies learn from the answer to x. For nearly all requests it changes
// nothing, so that their answers are sent as fast as without it.
func (s *site) learn(x *exchange) {
	if !s.learns || x.req.Call.Kind == call.Page {
		return
	}
	for _, p := range s.learners {
		if lesson := p.Learn(&x.req); lesson != nil {
			x.next = answers.Teach(x.next, lesson, s.account(x))
		}
	}
}

// rewriter is a policy that changes answers.
type rewriter struct {
	name     string
	observes func(policy.InForce) bool
	policy.AnswerChanger
}

// changer is a policy that changes requests.
type changer struct {
	name     string
	observes func(policy.InForce) bool
	policy.RequestChanger
}

// rewriteError says which policy could not change an answer, and why.
type rewriteError struct {
	policy string
	err    error
}

// Error implements error.
func (e *rewriteError) Error() string {
	return fmt.Sprintf("the platform's answer could not be rewritten: %v", e.err)
}

// Unwrap returns the cause.
func (e *rewriteError) Unwrap() error { return e.err }

// rewrite runs the rewriters of the exchange.
func (s *site) rewrite(x *exchange, a *ask.Answer) error {
	for i := range s.rewriters {
		if x.rewriters&(1<<i) == 0 {
			continue
		}
		if err := s.rewriters[i].Rewrite(&x.req, a); err != nil {
			return &rewriteError{s.rewriters[i].name, err}
		}
	}
	return nil
}

// rewriteBody runs the rewriters of the exchange on an answer whose body is kept. An answer to
// HEAD has none.
func (s *site) rewriteBody(x *exchange, a *ask.Answer, body *call.Buffer) error {
	if x.r.Method == http.MethodHead {
		body.Close()
	}
	err := body.Replace(x.r.Context(), func(piece []byte) ([]byte, error) {
		a.Body = ask.Text(piece)
		err := s.rewrite(x, a)
		piece, a.Body = a.Body, nil
		return piece, err
	})
	if refusal, full := errors.AsType[*call.Refusal](err); full {
		return &rewriteError{s.needsBody(x), refusal}
	}
	return err
}

// unusable sends a refusal in place of an answer that must not be sent.
func (s *site) unusable(w http.ResponseWriter, x *exchange, cause error) error {
	x.id() // before Caddy makes one
	x.renewVars()
	name := ""
	if e, ok := errors.AsType[*rewriteError](cause); ok {
		name = e.policy
	}
	d := s.chain.Refused(name, policy.Unavailable(), cause)
	if refusal, full := errors.AsType[*call.Refusal](cause); full { // of memory or disk
		d.Verdict.Rule = refusal.Reason
	}
	if e, ok := errors.AsType[*misreadError](cause); ok {
		d = e.refusal(s, x)
	}
	s.trace.Refused(&x.req, d)
	s.trace.Decided(&x.req, d)
	return s.refuse(w, x, d.Verdict)
}
