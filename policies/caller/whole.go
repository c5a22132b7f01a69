package caller

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// Whole is an HTTP request as a whole. The platform authenticates it once, by its own
// route, so that the parts of a batch share the caller. It belongs to one goroutine.
type Whole struct {
	Site    *Site
	Call    *call.Call
	HTTP    *http.Request // as it will be forwarded; read only
	Client  netip.Addr    // address of the client, as the server determined it
	Holder  budget.Holder // on whose account questions are under way
	Secure  bool          // https on the client's side
	Backend ask.Backend
	Trace   *ask.Trace // reports questions; may be nil

	Foreseer Foreseer // knows what will be asked about the record; may be nil

	claimed     bool // claim and unclear are known
	claim       Claim
	unclear     error      // why there is no claim
	byHeader    bool       // of ClaimOAuth1: Authorization holds the signature
	reading     sync.Mutex // guards the credentials while a question reads them
	hasRead     bool       // the credentials
	credentials Credentials

	asked  bool
	rights bool // caller has what Rights finds
	caller Caller
	answer *ask.Answer
	err    error
	beside *beside // what was asked with the question about the caller
}

// Claim returns the kind of credentials that w carries. The error is a *call.Refusal: it
// is not certain whether there are credentials.
func (w *Whole) Claim() (Claim, error) {
	if !w.claimed {
		w.claimed = true
		w.claim, w.unclear = w.claimOf()
	}
	return w.claim, w.unclear
}

// Credentials returns the values of w that may say who is calling. The error is a
// *call.Refusal.
func (w *Whole) Credentials() (*Credentials, error) { return w.read(ask.KindCaller) }

// read returns the credentials that a question of this kind carries.
func (w *Whole) read(kind ask.Kind) (*Credentials, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if kind != ask.KindCart { // the cart belongs to the session, not to the caller
		if _, err := w.Claim(); err != nil {
			return nil, err
		}
	}
	if !w.hasRead {
		w.readCredentials(&w.credentials)
		w.hasRead = true
	}
	return &w.credentials, nil
}

// Who returns who the platform would say is calling. If the platform refuses the
// credentials themselves, Who returns that answer, to be sent to the client. It asks the
// platform only if the request carries credentials that count, and once per request.
func (w *Whole) Who(ctx context.Context) (Caller, *ask.Answer, error) {
	if !w.asked {
		w.caller, w.answer, w.err = w.Site.Identities.who(ctx, w)
		w.asked = true
		if w.answer != nil && RefusesLogin(w.answer) && w.shopLooks() {
			w.answer = nil // where the shop looks for its own keys, such a caller is anonymous (docs/platform III.8)
		}
		w.settleAhead()
	}
	return w.caller, w.answer, w.err
}

// Known returns the caller if Who has already found it; it asks nothing.
func (w *Whole) Known() (Caller, bool) {
	if !w.asked || w.err != nil || w.answer != nil {
		return Caller{}, false
	}
	return w.caller, true
}

// IsAnonymous tells whether the caller is anonymous. A caller who could not be found out
// counts as anonymous.
func (w *Whole) IsAnonymous(ctx context.Context) bool {
	caller, answer, err := w.Who(ctx)
	return err != nil || answer != nil || caller.Kind == Anonymous
}

// Ask puts q to the platform on behalf of w: to the same install, in the same form, and
// with the credentials that q.As names. It waits while too many questions are under way, until
// ctx ends. Several goroutines may ask at once. A question about who is calling, a record or a
// schema counts against the client's limit if w has credentials that the platform has not
// accepted, also if it is asked as nobody. Errors
// are those of Backend.Ask, ask.ErrUndecided, ask.ErrTooMany, or a *call.Refusal.
func (w *Whole) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	if a, err, is := w.askedBeside(&q); is {
		return a, err
	}
	proves := w.proves(&q)
	counts := proves || q.Kind == ask.KindSchema
	q, err := w.Question(q)
	if err != nil {
		return nil, err
	}
	if !counts {
		return w.send(ctx, q)
	}
	if _, err := w.Credentials(); err != nil {
		return nil, err
	}
	if w.claim == ClaimNothing {
		return w.send(ctx, q)
	}
	if err := w.introduce(ctx, &q); err != nil {
		return nil, err
	}
	ids, epoch := w.Site.Identities, w.Site.Identities.cache.epoch()
	counted, err := w.count()
	if err != nil {
		return nil, err
	}
	a, err := w.send(ctx, q)
	if counted && proves && err == nil && w.accepts(a) {
		who, _ := w.Known()
		ids.giveBack(who, w.Client)
		ids.cache.judged(w.key(), epoch, identityEntry{identity: identity{caller: Caller{Kind: User}}, session: w.session()})
	}
	return a, err
}

// introduce finds out who is calling before a question as the caller that does not show it, so that
// credentials that the platform accepts do not count. It does so once for a request, and not while
// they are remembered. Such questions are asked one after the other.
func (w *Whole) introduce(ctx context.Context, q *ask.Question) error {
	if q.As != ask.AsCaller || w.proves(q) || !w.claim.Verifiable() || w.Site.Identities.cache.wasAccepted(w.key()) {
		return nil
	}
	if _, _, err := w.Who(ctx); errors.Is(err, ask.ErrTooMany) {
		return err
	}
	return nil // without an answer the question counts
}

// key returns what the credentials of w are kept under, which must have been read.
func (w *Whole) key() cacheKey { return w.Site.Identities.cache.key(w.claim, &w.credentials) }

// count counts a question against the client's limit, unless the platform has accepted the
// credentials of w, which must have been read.
func (w *Whole) count() (counted bool, err error) {
	if who, known := w.Known(); known && (identity{caller: who}).proven() {
		return false, nil // another gateway may have asked
	}
	return w.Site.Identities.count(w.key(), w.Client)
}

// MayAsk returns ask.ErrTooMany where the platform has not accepted the credentials of w within
// the last hour, and the client's limit allows no question about such. It counts nothing.
func (w *Whole) MayAsk() error {
	if _, err := w.Credentials(); err != nil {
		return err
	}
	counted, err := w.count()
	if counted {
		w.Site.Identities.limit.Refund(AddressKey(w.Client))
	}
	return err
}

// proves tells whether the answer to q shows that the platform accepts the caller's
// credentials, if there are any, a key for the tool server among them: the platform answers
// it to no anonymous caller.
func (w *Whole) proves(q *ask.Question) bool {
	own := q.As == ask.AsCaller || q.As == ask.AsKey && q.Key == w.HTTP.Header.Get("X-Mcp-Api-Key")
	return own && (q.Kind == ask.KindRecord || q.Kind == ask.KindCaller)
}

// accepts tells whether an answer to a question that proves credentials was given to somebody
// whom the platform knows. Of the answers 403 only the shop's own "cannot" is: others, such
// as those of a plugin for tokens, go to anybody. Of the answers 404 only "no such note" is:
// a missing order is missing for everybody (docs/platform III.3).
func (w *Whole) accepts(a *ask.Answer) bool {
	code := a.Code()
	switch a.Status {
	case http.StatusOK:
		return true
	case http.StatusForbidden:
		return strings.HasPrefix(code, w.Site.Platform.ErrorPrefix+"cannot_")
	case http.StatusNotFound:
		return code == w.Site.Platform.ErrorPrefix+"invalid_id"
	}
	return a.MayNotRead()
}

// session returns the hash of the login cookies, "" without any.
func (w *Whole) session() string {
	return sessionOf(w.Site.Identities.cache.hasher.Load(), w.HTTP.Header, &w.Site.Platform)
}

// send waits until q may be under way, and sends it.
func (w *Whole) send(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	ctx, ended, err := w.Site.Identities.begin(ctx, w.Holder, true)
	if err != nil {
		return nil, err
	}
	a, err := ask.Send(ctx, w.Backend, w.Trace, q)
	if err == nil {
		err = a.ReadBy(ctx, &q)
	}
	ask.AfterQuestion(err, ended)
	w.Site.learn(w.HTTP.Host, &q, a, err)
	return a, err
}

// Question completes q as Ask would send it. The error is a *call.Refusal, or wraps
// ask.ErrUndecided if a key cannot be used.
func (w *Whole) Question(q ask.Question) (ask.Question, error) {
	w.reading.Lock()
	claim, _ := w.Claim() // of an unclear one, read says so
	w.reading.Unlock()
	return w.questionBy(claim, q)
}

// questionBy is Question with the credentials of a claim.
func (w *Whole) questionBy(claim Claim, q ask.Question) (ask.Question, error) {
	q.Base, q.Form, q.Rewritten, q.Fresh = w.Call.Base, w.Call.Form, w.Call.Rewritten, rand.Text()
	known, _ := w.Site.servers.Get(w.HTTP.Host)
	q.Envelope, q.Slash = known.enveloped && q.Kind == ask.KindRecord, known.slash // an order is proven by an error
	if known.byQuery {
		q = q.Turned()
	}
	switch q.As {
	case ask.AsKey:
		err := w.withKey(&q)
		return q, err
	case ask.AsCaller:
		c, err := w.read(q.Kind)
		if err != nil {
			return q, err
		}
		q.Header, q.Query = c.header(claim, q.Kind), c.query(claim, q.Kind, q.Query)
	case ask.AsNobody: // no credentials to add
	}
	return q, nil
}

// Rate counts one question against the client's limit, identity { rate }. It returns
// ask.ErrTooMany above the limit.
func (w *Whole) Rate() error {
	if !w.Site.Identities.limit.Allow(AddressKey(w.Client)) {
		return ask.ErrTooMany
	}
	return nil
}
