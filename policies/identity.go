package policies

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/restwarden/restwarden/policies/store"
	"golang.org/x/sync/singleflight"
)

// IdentityOptions bounds the questions about callers.
type IdentityOptions struct {
	TTL         time.Duration // how long an answer is believed; default 10 s
	Timeout     time.Duration // how long an answer may take; default 5 s
	MaxInFlight int           // questions under way at once; default 32
	Rate        int           // new questions of one client address ...
	Per         time.Duration // ... in this time; default 120 in a minute

	// Store is where other gateways put their answers, and say what has ended;
	// nil for a gateway that stands alone.
	Store store.Store
	// Site names the directive among those that share Store: what ends a right
	// ends it on all gateways with the same Site.
	Site string
	// Server names who answers for a host: an answer counts on gateways with the
	// same Site and Server.
	Server string
}

// WithDefaults fills in what is not set.
func (o IdentityOptions) WithDefaults() IdentityOptions {
	if o.TTL == 0 {
		o.TTL = 10 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 32
	}
	if o.Rate == 0 {
		o.Rate, o.Per = 120, time.Minute
	}
	return o
}

// Identities finds out who is calling by asking the platform with exactly the
// client's credentials. Answers are kept for seconds, in memory first and in the
// Store second, under a keyed hash of all that decides them; questions are bounded.
type Identities struct {
	opts   IdentityOptions
	cache  *identityCache
	shared *sharedIdentities // nil for a gateway that stands alone
	flight singleflight.Group
	slots  chan struct{}
	limit  *store.Limiter
}

// NewIdentities returns an empty cache of callers.
func NewIdentities(opts IdentityOptions) (*Identities, error) {
	opts = opts.WithDefaults()
	limit, err := store.NewLimiter(store.Rate{Count: opts.Rate, Per: opts.Per})
	if err != nil {
		return nil, fmt.Errorf("identity rate: %w", err)
	}
	ids := &Identities{
		opts: opts, cache: newIdentityCache(),
		slots: make(chan struct{}, opts.MaxInFlight), limit: limit,
	}
	if opts.Store != nil {
		ids.shared = newSharedIdentities(ids)
	}
	return ids, nil
}

// Close ends what NewIdentities began.
func (ids *Identities) Close() error {
	if ids.shared != nil {
		ids.shared.stop()
		ids.shared.sharing.Wait()
	}
	return nil
}

// identity is what the platform answered: a caller, or a refusal of its own.
type identity struct {
	caller Caller
	answer *Answer // bad nonce, bad password: handed on
}

// Who returns who the platform would say is calling. Where the platform refuses
// the credentials themselves its answer is returned, to be handed on. The
// platform is asked only if the request carries credentials that count.
func (r *Request) Who(ctx context.Context) (Caller, *Answer, error) {
	m := r.memo()
	if !m.asked {
		m.caller, m.answer, m.err = r.Site.Identities.who(ctx, m.of)
		m.asked = true
		if m.answer != nil && wrongPassword[m.answer.Code()] && r.Site.shopLooks(m.of.Call) {
			m.answer = nil // where the shop looks for keys, such a caller is anonymous (docs/platform III.8)
		}
	}
	return m.caller, m.answer, m.err
}

// Known returns the caller as far as it was asked for.
func (r *Request) Known() (Caller, bool) {
	if r.who == nil || !r.who.asked || r.who.err != nil || r.who.answer != nil {
		return Caller{}, false
	}
	return r.who.caller, true
}

func (ids *Identities) who(ctx context.Context, r *Request) (Caller, *Answer, error) {
	claim, err := r.Site.claimOf(r)
	switch {
	case err != nil:
		return Caller{}, nil, err
	case claim == claimsNothing, claim == claimsUncertain, claim == claimsJetpack && !r.Site.Credentials.Jetpack:
		return Caller{}, nil, nil
	case claim == claimsOAuth1, claim == claimsJetpack:
		return Caller{Kind: Unverified}, nil, nil
	}
	key := ids.cache.key(r, claim)
	if found, ok := ids.cache.get(key); ok {
		r.Site.remembered(LookupCaller)
		return found.caller, found.answer, nil
	}
	q := question(r, claim) // now: the call's body may be gone before the answer comes
	answer := ids.flight.DoChan(key, func() (any, error) { return ids.ask(ctx, r, claim, q, key) })
	select {
	case <-ctx.Done():
		return Caller{}, nil, context.Cause(ctx)
	case result := <-answer:
		if result.Err != nil {
			return Caller{}, nil, result.Err
		}
		found := result.Val.(identity)
		return found.caller, found.answer, nil
	}
}

// ask looks at what other gateways know, then puts the question to the platform.
// It outlives the client that caused it, since others may wait for the same answer.
func (ids *Identities) ask(ctx context.Context, r *Request, claim claim, q Question, key string) (identity, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ids.opts.Timeout)
	defer cancel()
	known, found := ids.recall(ctx, r, key)
	if found {
		return known.identity, nil
	}
	if !ids.limit.Allow(addressKey(r.Client)) {
		return identity{}, ErrTooManyQuestions
	}
	select {
	case ids.slots <- struct{}{}:
		defer func() { <-ids.slots }()
	case <-ctx.Done():
		return identity{}, fmt.Errorf("%w: too many identity questions under way", ErrUndecided)
	}
	epoch := ids.cache.epoch()
	answer, err := r.Backend.Ask(ctx, q)
	if err != nil {
		return identity{}, fmt.Errorf("who is calling: %w", err)
	}
	who, err := interpret(answer, claim)
	if err != nil {
		return identity{}, fmt.Errorf("who is calling: %w", err)
	}
	ids.cache.put(key, epoch, entryOf(r, who), ids.opts.TTL)
	ids.share(ctx, r, key, known, who)
	return who, nil
}

// addressKey is the address that limits count by: IPv6 by /64, since one
// client commonly has that many.
func addressKey(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
