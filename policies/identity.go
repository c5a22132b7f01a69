package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/restwarden/restwarden/policies/call"
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
	Store Store
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
	limit  *Limiter
	pages  *Limiter // see sparing
}

// NewIdentities returns an empty cache of callers.
func NewIdentities(opts IdentityOptions) (*Identities, error) {
	opts = opts.WithDefaults()
	limit, err := NewLimiter(Rate{Count: opts.Rate, Per: opts.Per})
	if err != nil {
		return nil, fmt.Errorf("identity rate: %w", err)
	}
	pages, err := NewLimiter(Rate{Count: 3, Per: 6 * time.Second})
	if err != nil {
		return nil, err
	}
	ids := &Identities{
		opts: opts, cache: newIdentityCache(),
		slots: make(chan struct{}, opts.MaxInFlight), limit: limit, pages: pages,
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
	}
	return m.caller, m.answer, m.err
}

// Known returns the caller as far as it was asked for.
func (r *Request) Known() (Caller, bool) {
	if r.who == nil || !r.who.asked || r.who.err != nil {
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
		return found.caller, found.answer, nil
	}
	answer := ids.flight.DoChan(key, func() (any, error) { return ids.ask(ctx, r, claim, key) })
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
func (ids *Identities) ask(ctx context.Context, r *Request, claim claim, key string) (identity, error) {
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
	answer, err := r.Backend.Ask(ctx, question(r, claim))
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

func question(r *Request, claim claim) Question {
	q := Question{
		Kind: LookupCaller, Method: http.MethodGet, As: AsCaller,
		Base: r.Call.Base, Form: r.Call.Form == call.Query,
	}
	switch claim {
	case claimsTool:
		q.As, q.Key = AsKey, r.HTTP.Header.Get("X-Mcp-Api-Key")
		q.Route, q.Query = "/"+r.Site.Platform.Shop[2]+"/orders", "per_page=1&_fields=id"
		return q
	case claimsKey:
		q.Route, q.Query = "/"+r.Site.Platform.Shop[2]+"/orders", "per_page=1&_fields=id"
	case claimsSession:
		q.Route, q.Query = "/"+r.Site.Platform.Checkout+"/cart", "_fields=totals"
	default:
		q.Route, q.Query = "/"+r.Site.Platform.Core+"/users/me", "context=edit"
	}
	q.Query = r.Site.withCredentials(r.Call, claim, q.Query)
	return q
}

// withCredentials adds to query what the client sent of its credentials as
// variables: the nonce, or a shop key.
func (s *Site) withCredentials(c *call.Call, claim claim, query string) string {
	v := url.Values{}
	if nonce, set, err := c.Variable(s.Platform.NonceParam); set && err == nil {
		v.Set(s.Platform.NonceParam, nonce)
	}
	if claim == claimsKey {
		for _, name := range []string{"consumer_key", "consumer_secret"} {
			if value, set := c.QueryVariable(name); set {
				v.Set(name, value)
			}
		}
	}
	if len(v) == 0 {
		return query
	}
	if query != "" {
		query += "&"
	}
	return query + v.Encode()
}

func interpret(a *Answer, claim claim) (identity, error) {
	if code := errorCode(a); handedOn[code] {
		return identity{answer: a}, nil
	}
	switch claim {
	case claimsKey, claimsTool:
		return interpretKey(a)
	case claimsSession:
		return interpretSession(a)
	}
	return interpretUser(a)
}

// handedOn are the answers to credentials that the platform refuses as such:
// they go to the client in the platform's own words (design 7).
var handedOn = map[string]bool{
	"rest_cookie_invalid_nonce":               true,
	"incorrect_password":                      true,
	"invalid_username":                        true,
	"invalid_email":                           true,
	"application_passwords_disabled":          true,
	"application_passwords_disabled_for_user": true,
}

func interpretUser(a *Answer) (identity, error) {
	if a.Status == http.StatusUnauthorized && errorCode(a) != "" {
		return identity{}, nil
	}
	if a.Status != http.StatusOK {
		return identity{}, unexpected(a)
	}
	var body struct {
		ID           uint64          `json:"id"`
		Roles        []string        `json:"roles"`
		Capabilities json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return identity{}, fmt.Errorf("%w: the answer is not a user: %w", ErrUndecided, err)
	}
	if body.ID == 0 {
		return identity{}, fmt.Errorf("%w: the answer has no user id", ErrUndecided)
	}
	caps, err := grantedCapabilities(body.Capabilities)
	if err != nil {
		return identity{}, err
	}
	return identity{caller: Caller{Kind: User, ID: body.ID, Roles: body.Roles, Capabilities: caps}}, nil
}

// grantedCapabilities reads {"read":true,"x":false}; PHP writes an empty list
// for no capabilities at all. What is not exactly true is not granted.
func grantedCapabilities(raw json.RawMessage) (map[string]bool, error) {
	if len(raw) == 0 || string(raw) == "[]" || string(raw) == "null" {
		return nil, nil
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("%w: capabilities: %w", ErrUndecided, err)
	}
	granted := make(map[string]bool, len(all))
	for name, v := range all {
		if v == true {
			granted[name] = true
		}
	}
	return granted, nil
}

// interpretKey reads the answer of the list of orders: it is for keys that may
// read, 403 for those of somebody else, 401 for write-only ones and for nobody
// (platform-facts III.8). The notes of an order will not do: where there is no
// such order they say so to everybody.
func interpretKey(a *Answer) (identity, error) {
	code, message := errorMessage(a)
	switch {
	case a.Status == http.StatusOK && bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("[")),
		a.Status == http.StatusForbidden && strings.HasSuffix(code, "cannot_view"),
		a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error") && strings.Contains(message, "read permissions"):
		return identity{caller: Caller{Kind: KeyHolder}}, nil
	case a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error"):
		return identity{answer: a}, nil
	case a.Status == http.StatusUnauthorized && code != "":
		return identity{}, nil
	}
	return identity{}, unexpected(a)
}

// interpretSession reads the header User-ID of the cart: 0 for guests.
func interpretSession(a *Answer) (identity, error) {
	if a.Status != http.StatusOK {
		return identity{}, unexpected(a)
	}
	id, err := strconv.ParseUint(a.Header.Get("User-ID"), 10, 64)
	if err != nil {
		return identity{}, fmt.Errorf("%w: the cart names no user", ErrUndecided)
	}
	if id == 0 {
		return identity{}, nil
	}
	return identity{caller: Caller{Kind: User, ID: id}}, nil
}

func unexpected(a *Answer) error {
	return fmt.Errorf("%w: unexpected answer, status %d, code %q", ErrUndecided, a.Status, errorCode(a))
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
