package caller

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/store"
)

// Options bounds the questions about callers. WithDefaults fills in zero values.
type Options struct {
	TTL         time.Duration // how long an answer is believed; default 10 s
	Timeout     time.Duration // how long a question may take that nobody waits for, see begin; default 30 s
	MaxInFlight int           // questions under way at once, of all sites with the same InFlight; default 128
	Rate        int           // questions about credentials that the platform does not accept, per client address ...
	Per         time.Duration // ... and time; default 120 per minute

	// Store holds the answers that gateways share, and their messages about ended rights.
	// It is nil for a gateway that shares nothing.
	Store store.Store
	// InFlight are the shares of the questions under way. It is nil for a site that shares
	// them with no other.
	InFlight *budget.Shares
	// Late are the shares of the questions that take longer than Timeout, while somebody waits
	// for them. It is nil like InFlight.
	Late *budget.Shares
	// Site identifies the site among those that share Store. A right that ends is dropped
	// on all gateways with the same Site.
	Site string
	// Before is the Site of gateways of schema 1, which do not know the sites' names. It
	// is "" where there are none.
	Before string
	// Alone has the platform asked about each request by itself: the answers for one site
	// may come from several backends, and nobody can tell which.
	Alone bool
	// InTurn has one question asked after the other, for somebody who reads them in order.
	InTurn bool
	// Server identifies the server that answers for a host. An answer counts on gateways
	// with the same Site and Server.
	Server string
}

// WithDefaults returns o with defaults for zero values.
func (o Options) WithDefaults() Options {
	o.TTL = cmp.Or(o.TTL, 10*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 128)
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
	opts    Options
	cache   *identityCache
	shared  *sharedIdentities // nil for a gateway that shares nothing
	flights flights
	limit   *store.Limiter
}

// NewIdentities returns an Identities without any answer. The caller must close it.
func NewIdentities(opts Options) (*Identities, error) {
	opts = opts.WithDefaults()
	limit, err := store.NewLimiter(store.Rate{Count: opts.Rate, Per: opts.Per})
	if err != nil {
		return nil, fmt.Errorf("identity rate: %w", err)
	}
	opts.InFlight = cmp.Or(opts.InFlight, budget.NewShares(int64(opts.MaxInFlight)))
	opts.Late = cmp.Or(opts.Late, budget.NewShares(int64(opts.MaxInFlight)))
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

// proven tells whether the platform has accepted the credentials of one caller. That the header
// of an Unverified one arrives is about the site: anybody can send it, with any Host.
func (i identity) proven() bool { return i.accepted() && i.caller.Kind != Unverified }

func (ids *Identities) who(ctx context.Context, w *Whole) (Caller, *ask.Answer, error) {
	claim, err := w.Claim()
	switch {
	case err != nil:
		return Caller{}, nil, err
	case claim == ClaimNothing, claim == ClaimUncertain, claim == ClaimJetpack && !w.Site.Own.Jetpack:
		return Caller{}, nil, nil
	case claim == ClaimJetpack:
		return Caller{Kind: Unverified}, nil, nil
	}
	who, answer, err := ids.find(ctx, w, claim)
	if claim != ClaimSession || err != nil || answer != nil || who.Kind != Anonymous {
		return who, answer, err
	}
	if own, err := w.hasOwnLogin(); !own || err != nil {
		return Caller{}, nil, err
	}
	who, _, err = ids.find(ctx, w, ClaimUser) // the shop refuses nobody there for a wrong login
	return who, nil, err
}

// find returns who makes the claim, one of those that w carries.
func (ids *Identities) find(ctx context.Context, w *Whole, claim Claim) (Caller, *ask.Answer, error) {
	credentials, err := w.Credentials()
	if err != nil {
		return Caller{}, nil, err
	}
	key, kept := ids.cache.key(claim, credentials), claim.kept(&ids.opts)
	if ids.opts.Alone {
		rand.Read(key[:]) // no other request has this key
	}
	found, is, renew := ids.cache.get(key, kept.accepted)
	if is == unknown {
		found, is, _ = ids.cache.get(w.refusals(claim, key), kept.accepted)
	}
	if renew {
		_, _ = ids.ask(ctx, w, claim, key, true) // nobody waits; an error comes up when the entry has ended
	}
	if is == fresh || is == ending {
		w.Trace.Remembered(ask.KindCaller)
		return found.caller, found.answer, nil
	}
	f, err := ids.ask(ctx, w, claim, key, false)
	if err != nil {
		return Caller{}, nil, err
	}
	defer ids.flights.leave(f)
	return ids.await(ctx, w, f, key, kept, is == ended)
}

// patience is how long a request waits for the platform while an answer that has just
// ended is there.
const patience = time.Second

// await waits for the answer to a question. After some time it takes the answer before, if
// that has just ended and no right of the caller's was seen to end (docs/identity.md, "Memory").
func (ids *Identities) await(ctx context.Context, w *Whole, f *flight, key cacheKey, kept lifetime, before bool) (Caller, *ask.Answer, error) {
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
			if found, is, _ := ids.cache.get(key, kept.accepted); is != unknown {
				w.Trace.Remembered(ask.KindCaller)
				return found.caller, found.answer, nil
			}
		case <-f.done:
			return f.who.caller, f.who.answer, f.err
		}
	}
}

// ask begins the question about a claim of w, once for all who come the same way at the same time.
// Requests that come after a drop do not share a question from before it. Nobody waits for one
// that renews an answer; who asks for another must leave it.
func (ids *Identities) ask(ctx context.Context, w *Whole, claim Claim, key cacheKey, renews bool) (*flight, error) {
	i, err := ids.inquire(w, claim, key)
	if err != nil {
		return nil, err
	}
	if i.renews = renews; !renews {
		w.lookAhead(ctx, i)
	}
	name := string(i.refusals[:]) + strconv.FormatUint(ids.cache.epoch(), 10)
	if claim == ClaimOAuth1 {
		name += " " + w.Client.String() // what fails for one client, such as a banned one, must not fail for all
	}
	return ids.flights.join(ctx, name, !renews, ids.opts.Timeout, i.run), nil
}

// inquiry is one question about a caller with all that it needs. It holds nothing of the
// request that caused it: the request may end while others wait for the answer.
type inquiry struct {
	ids      *Identities
	site     *Site
	claim    Claim
	key      cacheKey // under which the answer is kept
	refusals cacheKey // the same where it is a refusal
	session  string   // hash of the login cookies
	renews   bool     // the answer before counts for a while
	question ask.Question
	nonce    ask.Question // comes before question; see ClaimNamespace
	beside   *beside      // what one request asks with it; may be nil
	counted  int          // against the limit, see count
	client   netip.Addr
	holder   budget.Holder
	host     string
	backend  ask.Backend
	trace    *ask.Trace
}

// inquire prepares the question about a claim of w.
func (ids *Identities) inquire(w *Whole, claim Claim, key cacheKey) (*inquiry, error) {
	q, err := w.questionBy(claim, questionFor(claim, &w.Site.Platform, w))
	if err != nil {
		return nil, err
	}
	i := &inquiry{
		ids: ids, site: w.Site, claim: claim, key: key, refusals: w.refusals(claim, key), question: q, client: w.Client, holder: w.Holder,
		session: w.session(), host: w.HTTP.Host,
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
// the platform accepts them, see giveBack. A question without an answer counts.
func (i *inquiry) run(ctx context.Context) (identity, error) {
	ids := i.ids
	known, found := ids.recall(ctx, i)
	if found {
		return known.identity, nil
	}
	if err := i.count(); err != nil {
		return identity{}, err
	}
	ctx, ended, err := ids.begin(ctx, i.holder, true)
	if err != nil {
		return identity{}, err
	}
	epoch := ids.cache.epoch()
	i.askBeside()
	who, err := i.identify(ctx)
	ask.AfterQuestion(err, ended)
	if err != nil {
		return identity{}, fmt.Errorf("who is calling: %w", err)
	}
	if who.proven() {
		for range i.counted {
			ids.giveBack(who.caller, i.client)
		}
	}
	entry := identityEntry{identity: who, session: i.session}
	ids.cache.putBy(i.key, i.refusals, epoch, entry, i.claim.kept(&ids.opts))
	ids.cache.judged(i.key, epoch, entry)
	ids.share(ctx, i, known, who)
	return who, nil
}

// count counts a question of i against the client's limit, see [Identities.count].
func (i *inquiry) count() error {
	counted, err := i.ids.count(i.key, i.client)
	if counted {
		i.counted++
	}
	return err
}
