package caller

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/ask"
)

// Ahead is what a policy will ask about the record of a request, as its caller, once it is known
// who that is. Either question may do.
type Ahead struct {
	Record ask.Question // tells what the record is
	List   ask.Question // the shop's list of orders, which shows the record if it is one of them
}

// Foreseer knows what will be asked about the record of a request.
type Foreseer interface {
	// Foresee returns nil where nothing will be.
	Foresee(ctx context.Context) *Ahead
}

// beside is a question about a record whose answer comes while a request waits for its caller.
type beside struct {
	as       ask.Question // as the policy will put it
	question ask.Question // as it is sent
	ctx      context.Context
	cancel   context.CancelFunc

	asked  atomic.Bool   // the answer comes; else the policy asks by itself
	done   chan struct{} // closed once answer or err is there
	answer *ask.Answer
	err    error
}

// lookAhead adds to i what can be asked with it about the record of w. A shop tells by the list
// of orders who holds a key, so that one list tells both. Beside users/me the record is asked
// about at the same time.
func (w *Whole) lookAhead(ctx context.Context, i *inquiry) {
	if w.Foreseer == nil || i.claim != w.claim || i.claim != ClaimUser && i.claim != ClaimKey ||
		ctx.Value(underWay{}) != nil || w.MayAsk() != nil {
		return
	}
	ahead := w.Foreseer.Foresee(ctx)
	if ahead == nil || i.claim == ClaimUser && w.Site.Identities.opts.InTurn {
		return
	}
	b := &beside{as: ahead.Record, done: make(chan struct{})}
	question := b.as
	if i.claim == ClaimKey {
		b.as, question = ahead.List, ahead.List
		question.Kind = ask.KindCaller
	}
	var err error
	if b.question, err = w.questionBy(i.claim, question); err != nil {
		return
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
	w.beside, i.beside = b, b
}

// askBeside asks about the record at once, if there is room for one more question. The request may
// need the room of the next one more.
func (i *inquiry) askBeside() {
	b := i.beside
	if b == nil || i.claim != ClaimUser || b.ctx.Err() != nil {
		return
	}
	ctx, ended, err := i.ids.begin(b.ctx, i.holder, false)
	if err != nil {
		return
	}
	if i.count() != nil {
		ended()
		return
	}
	b.asked.Store(true)
	go func() {
		defer close(b.done)
		b.answer, b.err = i.put(ctx, b.question)
		ask.AfterQuestion(b.err, ended)
	}()
}

// identifyByList asks who holds a key by the list that may show the record, and keeps the list for
// the request. A server that refuses the longer query is asked as about any call.
func (i *inquiry) identifyByList(ctx context.Context) (identity, error) {
	b := i.beside
	answer, err := i.put(ctx, b.question)
	if err != nil {
		return identity{}, err
	}
	who, err := i.interpret(ctx, answer, &b.question)
	var unexpected *ask.UnexpectedError
	if errors.As(err, &unexpected) && answer.Status >= http.StatusBadRequest {
		i.beside = nil
		if err := i.count(); err != nil {
			return identity{}, err
		}
		return i.identify(ctx)
	}
	if err == nil {
		b.answer = answer
		b.asked.Store(true)
		close(b.done)
	}
	return who, err
}

// settleAhead ends the question about the record of a caller whom the platform has not accepted.
func (w *Whole) settleAhead() {
	if w.beside == nil {
		return
	}
	if who, known := w.Known(); !known || !(identity{caller: who}).proven() {
		w.beside.cancel()
		w.beside = nil
	}
}

// Answered tells whether the platform has answered q with the question about the caller, so that
// Ask need not send it.
func (w *Whole) Answered(q ask.Question) bool {
	return w.beside != nil && w.beside.is(&q) && w.beside.asked.Load()
}

// is tells whether q is the question, as a policy puts it.
func (b *beside) is(q *ask.Question) bool {
	return q.As == b.as.As && q.Kind == b.as.Kind && q.Method == b.as.Method && q.Route == b.as.Route && q.Query == b.as.Query
}

// askedBeside returns the answer to q that comes with, or has come with, that about the caller.
func (w *Whole) askedBeside(q *ask.Question) (a *ask.Answer, err error, is bool) {
	b := w.beside
	if b == nil || !b.is(q) {
		return nil, nil, false
	}
	if !b.asked.Load() {
		b.cancel() // nor later
		return nil, nil, false
	}
	<-b.done // ends with the request
	return b.answer, b.err, true
}
