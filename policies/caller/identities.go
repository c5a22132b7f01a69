package caller

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/store"
)

// Options bounds the questions about callers. WithDefaults fills in zero values.
type Options struct {
	TTL         time.Duration // how long an answer is believed; default 10 s
	Timeout     time.Duration // how long an answer may take; default 10 s
	MaxInFlight int           // questions under way at once, of all sites with the same InFlight; default 128
	Rate        int           // questions about credentials that the platform does not accept, per client address ...
	Per         time.Duration // ... and time; default 120 per minute

	// Store holds the answers that gateways share, and their messages about ended rights.
	// It is nil for a gateway that shares nothing.
	Store store.Store
	// InFlight are the shares of the questions under way. It is nil for a site that shares
	// them with no other.
	InFlight *call.Shares
	// Site identifies the site among those that share Store. A right that ends is dropped
	// on all gateways with the same Site.
	Site string
	// Before is the Site of gateways of schema 1, which do not know the sites' names. It
	// is "" where there are none.
	Before string
	// Alone has the platform asked about each request by itself: the answers for one site
	// may come from several backends, and nobody can tell which.
	Alone bool
	// Server identifies the server that answers for a host. An answer counts on gateways
	// with the same Site and Server.
	Server string
}

// WithDefaults returns o with defaults for zero values.
func (o Options) WithDefaults() Options {
	if o.TTL == 0 {
		o.TTL = 10 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 128
	}
	if o.Rate == 0 {
		o.Rate, o.Per = 120, time.Minute
	}
	return o
}

// Identities finds out who is calling. It asks the platform with exactly the client's
// credentials and keeps the answer for seconds, in memory first and in the Store second,
// under a keyed hash of everything that decides it. The questions are bounded by
// [Options].
type Identities struct {
	opts   Options
	cache  *identityCache
	shared *sharedIdentities // nil for a gateway that shares nothing
	flight singleflight.Group
	limit  *store.Limiter
}

// NewIdentities returns an Identities without any answer. The caller must close it.
func NewIdentities(opts Options) (*Identities, error) {
	opts = opts.WithDefaults()
	limit, err := store.NewLimiter(store.Rate{Count: opts.Rate, Per: opts.Per})
	if err != nil {
		return nil, fmt.Errorf("identity rate: %w", err)
	}
	if opts.InFlight == nil {
		opts.InFlight = call.NewShares(int64(opts.MaxInFlight))
	}
	ids := &Identities{opts: opts, cache: newIdentityCache(), limit: limit}
	if opts.Store != nil {
		ids.shared = newSharedIdentities(ids)
	}
	return ids, nil
}

// Close stops the background work and the listener of the Store.
func (ids *Identities) Close() error {
	if ids.shared != nil {
		ids.shared.stop()
		ids.shared.sharing.Wait()
	}
	return nil
}

// identity is the platform's answer: a caller, or a refusal of the credentials.
type identity struct {
	caller Caller
	answer *ask.Answer // refused nonce or password, to be sent to the client
}

// accepted tells whether the platform accepts the credentials.
func (i identity) accepted() bool { return i.answer == nil && i.caller.Kind != Anonymous }

func (ids *Identities) who(ctx context.Context, w *Whole) (Caller, *ask.Answer, error) {
	claim, err := w.Claim()
	switch {
	case err != nil:
		return Caller{}, nil, err
	case claim == ClaimNothing, claim == ClaimUncertain, claim == ClaimJetpack && !w.Site.Own.Jetpack:
		return Caller{}, nil, nil
	case !claim.Verifiable():
		return Caller{Kind: Unverified}, nil, nil
	}
	credentials, err := w.Credentials()
	if err != nil {
		return Caller{}, nil, err
	}
	key := ids.cache.key(claim, credentials)
	if ids.opts.Alone {
		key += rand.Text() // no other request has this key
	}
	found, is, renew := ids.cache.get(key, ids.opts.TTL)
	if renew {
		_, _ = ids.ask(ctx, w, key, true) // nobody waits; an error comes up when the entry has ended
	}
	if is == fresh || is == ending {
		w.Trace.Remembered(ask.KindCaller)
		return found.caller, found.answer, nil
	}
	answer, err := ids.ask(ctx, w, key, false)
	if err != nil {
		return Caller{}, nil, err
	}
	return ids.await(ctx, w, key, answer, is == ended)
}

// patience is how long a request waits for the platform while an answer that has just
// ended is there.
const patience = time.Second

// await waits for the answer to a question. After some time it takes the answer before, if
// that has just ended and no right of the caller's was seen to end (docs/design 7).
func (ids *Identities) await(ctx context.Context, w *Whole, key string, answer <-chan singleflight.Result, before bool) (Caller, *ask.Answer, error) {
	var late <-chan time.Time
	if before {
		timer := time.NewTimer(min(patience, ids.opts.Timeout/2))
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return Caller{}, nil, context.Cause(ctx)
		case <-late:
			if found, is, _ := ids.cache.get(key, ids.opts.TTL); is != unknown {
				w.Trace.Remembered(ask.KindCaller)
				return found.caller, found.answer, nil
			}
		case result := <-answer:
			if result.Err != nil {
				return Caller{}, nil, result.Err
			}
			found := result.Val.(identity)
			return found.caller, found.answer, nil
		}
	}
}

// ask begins the question about the caller of w, once for all who ask at the same time.
// Requests that come after a drop do not share a question from before it.
func (ids *Identities) ask(ctx context.Context, w *Whole, key string, renews bool) (<-chan singleflight.Result, error) {
	i, err := ids.inquire(w, key)
	if err != nil {
		return nil, err
	}
	i.renews = renews
	flight := key + strconv.FormatUint(ids.cache.epoch(), 10)
	return ids.flight.DoChan(flight, func() (any, error) { return i.run(ctx) }), nil
}

// inquiry is one question about a caller with all that it needs. It holds nothing of the
// request that caused it: the request may end while others wait for the answer.
type inquiry struct {
	ids      *Identities
	site     *Site
	claim    Claim
	key      string // under which the answer is kept
	session  string // hash of the login cookies
	renews   bool   // the answer before counts for a while
	question ask.Question
	nonce    ask.Question // comes before question; see ClaimNamespace
	client   netip.Addr
	holder   call.Holder
	backend  ask.Backend
	trace    *ask.Trace
}

// inquire prepares the question about the caller of w.
func (ids *Identities) inquire(w *Whole, key string) (*inquiry, error) {
	claim := w.claim
	q, err := w.Question(questionFor(claim, &w.Site.Platform, w))
	if err != nil {
		return nil, err
	}
	i := &inquiry{
		ids: ids, site: w.Site, claim: claim, key: key, question: q, client: w.Client, holder: w.Holder,
		session: w.session(),
		backend: w.Backend.Detach(), trace: w.Trace,
	}
	if claim == ClaimNamespace {
		i.nonce, err = w.nonceQuestion()
	}
	return i, err
}

// run looks for the answer of another gateway, then asks the platform. The limit counts
// credentials that the platform has not accepted within the last hour. They are counted
// before they are asked about, so that any number at once is bounded, and given back where
// the platform accepts them. A question without an answer counts.
func (i *inquiry) run(ctx context.Context) (identity, error) {
	ids := i.ids
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ids.opts.Timeout)
	defer cancel()
	known, found := ids.recall(ctx, i)
	if found {
		return known.identity, nil
	}
	counted, err := ids.count(i.key, i.client)
	if err != nil {
		return identity{}, err
	}
	ctx, ended, err := ids.begin(ctx, i.holder)
	if err != nil {
		return identity{}, err
	}
	epoch := ids.cache.epoch()
	who, err := i.identify(ctx)
	ask.AfterQuestion(err, ended)
	if err != nil {
		return identity{}, fmt.Errorf("who is calling: %w", err)
	}
	if counted && who.accepted() {
		ids.limit.Refund(AddressKey(i.client))
	}
	entry := identityEntry{identity: who, session: i.session}
	ids.cache.put(i.key, epoch, entry, ids.opts.TTL)
	ids.cache.judged(i.key, epoch, entry)
	ids.share(ctx, i, known, who)
	return who, nil
}

// count counts a question against the limit of a client, unless the platform has accepted
// the credentials under key. It returns ask.ErrTooMany above the limit.
func (ids *Identities) count(key string, client netip.Addr) (counted bool, err error) {
	if ids.cache.wasAccepted(key) {
		return false, nil
	}
	if !ids.limit.Allow(AddressKey(client)) {
		return false, ask.ErrTooMany
	}
	return true, nil
}

// underWay marks the context of a question. What a question itself causes on its way, such
// as the question of a second directive on the same route, could otherwise wait for it.
type underWay struct{}

// begin waits in order until a question of h may be under way, or ctx ends. The caller calls
// ended after the answer. The returned context is for the question.
func (ids *Identities) begin(ctx context.Context, h call.Holder) (question context.Context, ended func(), err error) {
	if ctx.Value(underWay{}) != nil {
		return ctx, func() {}, nil
	}
	if h.Site == "" {
		h.Site = ids.opts.Site
	}
	if err := ids.opts.InFlight.Wait(ctx, h, 1); err != nil {
		return nil, nil, fmt.Errorf("%w: too many questions under way: %w", ask.ErrUndecided, err)
	}
	return context.WithValue(ctx, underWay{}, true), func() { ids.opts.InFlight.Free(h, 1) }, nil
}

// AddressKey returns the address as limits count it: IPv6 by /64, since one client
// commonly has that many.
func AddressKey(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
