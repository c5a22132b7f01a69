package caller

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Whole is a request as a whole: the platform authenticates it once, by its own route,
// so that the parts of a batch share it. It belongs to one goroutine.
type Whole struct {
	Site    *Site
	Call    *call.Call
	HTTP    *http.Request // as it will be forwarded; to be read, not changed
	Client  netip.Addr    // address of the client, as the server determined it
	Secure  bool          // https on the client's side
	Backend ask.Backend
	Trace   *ask.Trace // told of questions; may be nil

	reading     sync.Mutex // of credentials for a question
	credentials Credentials
	read        bool
	unread      error // why they cannot be read

	asked  bool
	caller Caller
	answer *ask.Answer
	err    error
}

// Claim returns what kind of credentials w carries. The error is a *call.Refusal:
// whether there are credentials has no certain answer.
func (w *Whole) Claim() (Claim, error) {
	if !w.read {
		w.read = true
		w.credentials.Claim, w.unread = w.claim()
	}
	return w.credentials.Claim, w.unread
}

// Credentials returns what w carries that may say who is calling. The error is a
// *call.Refusal.
func (w *Whole) Credentials() (*Credentials, error) {
	if _, err := w.Claim(); err != nil {
		return nil, err
	}
	w.credentials.freeze(w)
	return &w.credentials, nil
}

// Who returns who the platform would say is calling. Where the platform refuses
// the credentials themselves its answer is returned, to be handed on. The
// platform is asked only if the request carries credentials that count.
func (w *Whole) Who(ctx context.Context) (Caller, *ask.Answer, error) {
	if !w.asked {
		w.caller, w.answer, w.err = w.Site.Identities.who(ctx, w)
		w.asked = true
		if w.answer != nil && wrongPassword[w.answer.Code()] && w.Site.shopLooks(w.Call) {
			w.answer = nil // where the shop looks for keys, such a caller is anonymous (docs/platform III.8)
		}
	}
	return w.caller, w.answer, w.err
}

// Known returns the caller as far as it was asked for.
func (w *Whole) Known() (Caller, bool) {
	if !w.asked || w.err != nil || w.answer != nil {
		return Caller{}, false
	}
	return w.caller, true
}

// IsAnonymous tells whether nobody vouches for the caller: what could not be
// found out counts as anonymous.
func (w *Whole) IsAnonymous(ctx context.Context) bool {
	caller, answer, err := w.Who(ctx)
	return err != nil || answer != nil || caller.Kind == Anonymous
}

// Ask puts q to the platform on behalf of w: to the same install, in the same form, and
// with the credentials that q.As names. Several goroutines may ask at once.
func (w *Whole) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	q, err := w.Question(q)
	if err != nil {
		return nil, err
	}
	return ask.Send(ctx, w.Backend, w.Trace, q)
}

// Question completes q as Ask would send it. The error is a *call.Refusal.
func (w *Whole) Question(q ask.Question) (ask.Question, error) {
	q.Base, q.Form = w.Call.Base, w.Call.Form
	switch q.As {
	case ask.AsKey:
		w.Site.withKey(&q)
	case ask.AsCaller:
		if err := w.freeze(q.Kind); err != nil {
			return q, err
		}
		c := &w.credentials
		q.Header, q.Query = c.header(q.Kind), c.query(q.Kind, q.Query)
	}
	return q, nil
}

// freeze reads what a question of this kind carries.
func (w *Whole) freeze(kind ask.Kind) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	if kind != ask.KindCart { // the cart is the session's, whoever is calling
		if _, err := w.Claim(); err != nil {
			return err
		}
	}
	w.credentials.freeze(w)
	return nil
}

// Rate counts one question against what identity { rate } lets one client cause.
func (w *Whole) Rate() error {
	if !w.Site.Identities.limit.Allow(AddressKey(w.Client)) {
		return ask.ErrTooMany
	}
	return nil
}
