// Package ratelimit is the policy rate_limit: how many calls, or messages of agents, a client may make in a
// time.
package ratelimit

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:  "rate_limit",
	Words: []string{"rate_limit"},
	New:   func() policy.Policy { return new(RateLimits) },
	Codes: []policy.Code{policy.CodeTooMany},
}

// RateLimits refuses calls that one client sends too often to one route.
type RateLimits struct {
	Limits []*RateLimit `json:"limits,omitempty"`
}

// RateLimit is one line `rate_limit <n>/<duration> [per …] [scope <name>,…] [<methods>] <route>...`.
type RateLimit struct {
	// Rate is "10/1m".
	Rate string `json:"rate"`
	// Per says what counts as one client: "address" (the default; IPv6 by /64), "caller"
	// (the user that the platform names; others by address) or "key" (like "caller", and
	// the shop key if the platform accepts it).
	Per string `json:"per,omitempty"`
	// Scope are the names of scopes, "erp,agent": the limit counts calls of their verified credentials alone.
	Scope string `json:"scope,omitempty"`
	// Methods are those of HTTP, or those of agents' messages (mcp.Methods). Empty means
	// all calls.
	Methods []string `json:"methods,omitempty"`
	Routes  []string `json:"routes"`
	// From is the plugin whose line `allow plugin` the limit comes from.
	From string `json:"from,omitempty"`
	// At is where the limit stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	rate     store.Rate
	by       policy.Rule // of Scope
	target   policy.Target
	messages []string // methods of agents' messages that the limit counts; nil: every call
	text     string
}

var limitKinds = []string{"address", "caller", "key"}

// Configure takes one limit, or the policy's own block if the line has no arguments.
func (p *RateLimits) Configure(o policy.Option) error {
	if len(o.Args) == 0 {
		return o.Bare()
	}
	if len(o.Block) > 0 {
		return o.Errorf("rate_limit takes no block behind a rate")
	}
	if strings.HasPrefix(o.Args[0], "/") {
		return o.Missing("needs a rate such as 10/1m before its routes")
	}
	l := &RateLimit{Rate: o.Args[0], From: o.From, At: o.Pos}
	args := o.Args[1:]
	if len(args) > 0 && args[0] == "per" {
		if len(args) < 2 || strings.HasPrefix(args[1], "/") {
			return o.Missing("… per needs one of " + strings.Join(limitKinds, ", "))
		}
		l.Per, args = args[1], args[2:]
	}
	if len(args) > 0 && args[0] == "scope" {
		if len(args) < 2 || strings.HasPrefix(args[1], "/") {
			return o.Missing("… scope needs the name of a scope")
		}
		l.Scope, args = args[1], args[2:]
	}
	l.Methods, l.Routes = policy.MethodsAndRoutes(args)
	if err := l.compile(); err != nil {
		return o.Invalid(err)
	}
	if p.stands(l) {
		return o.Once(o.From == "") // two lines may allow one plugin
	}
	p.Limits = append(p.Limits, l)
	return nil
}

func (l *RateLimit) compile() (err error) {
	if l.rate, err = policy.ParseRate(l.Rate); err != nil {
		return err
	}
	if err := typo.CheckOption("per", l.Per, limitKinds...); err != nil {
		return err
	}
	if l.Scope != "" {
		l.by = policy.Rule{Allow: "scope " + l.Scope}
		if err := l.by.CompileWho(); err != nil {
			return err
		}
	}
	l.text = l.String()
	methods := l.Methods
	l.messages = nil
	if slices.ContainsFunc(methods, meansMessage) {
		if err := onlyMessages(methods); err != nil {
			return err
		}
		l.messages, methods = methods, nil
	}
	if l.target, err = policy.NewTarget(methods, l.Routes); err != nil {
		return err
	}
	return l.onlyServers()
}

// stands tells whether another limit equals l: the two would count each call twice.
func (p *RateLimits) stands(l *RateLimit) bool {
	return slices.ContainsFunc(p.Limits, func(other *RateLimit) bool { return other != l && other.String() == l.String() })
}

// Provision checks the limits.
func (p *RateLimits) Provision(site *policy.Site, _ policy.Settings) error {
	for _, l := range p.Limits {
		err := l.compile()
		if err == nil {
			err = l.by.CheckNames(site)
		}
		if err == nil && p.stands(l) {
			err = fmt.Errorf("%s: %w", l, policy.ErrRepeated)
		}
		if err != nil {
			return policy.Option{Pos: l.At}.Errorf("%w", err)
		}
	}
	return nil
}

// Check counts the call against every limit whose target it is in.
func (p *RateLimits) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.count(ctx, r, (*RateLimit).mismatch)
}

// CheckPreflight counts the preflight against every limit of its route but those of messages,
// whatever the methods: the platform asks the route's endpoints of all methods who may use them.
func (p *RateLimits) CheckPreflight(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.count(ctx, r, func(l *RateLimit, r *policy.Request) (policy.Mismatch, error) {
		switch {
		case l.target.AnyMethod(r.Call) == nil:
			return policy.OtherRoute, nil
		case l.messages != nil:
			return policy.OtherMessage, nil
		}
		return policy.Matches, nil
	})
}

// count counts the call against every limit that mismatch leaves.
func (p *RateLimits) count(ctx context.Context, r *policy.Request, mismatch func(*RateLimit, *policy.Request) (policy.Mismatch, error)) (policy.Verdict, error) {
	for _, l := range p.Limits {
		why, err := mismatch(l, r)
		if err != nil {
			return policy.Verdict{}, err
		}
		r.Considered("rate_limit", l, l.At, why)
		if why != policy.Matches || l.counted(r) {
			continue
		}
		switch counts, err := l.countsCaller(ctx, r); {
		case err != nil:
			return policy.Verdict{}, err
		case !counts:
			continue
		}
		client, err := l.client(ctx, r)
		if err != nil {
			return policy.Verdict{}, err
		}
		taken, err := r.Site.Store.Take(ctx, "rate:"+r.Site.Name+":"+l.text+":"+client, l.rate)
		if err != nil {
			return policy.Verdict{}, err
		}
		if !taken.Allowed {
			return l.refuse(taken), nil
		}
		if least := leastLeft.Get(r); least == nil || taken.Remaining < least.taken.Remaining {
			leastLeft.Set(r, &quota{l, taken})
		}
	}
	return policy.Verdict{}, nil
}

// quota is what a limit has left after a call that it let pass.
type quota struct {
	limit *RateLimit
	taken store.Taken
}

// leastLeft keeps the quota of the limit with the least remaining.
var leastLeft = policy.NewSlot[quota](policy.OfAnyCall)

// header writes the quota as the RateLimit header fields.
func (q quota) header(h http.Header) {
	h.Set("Ratelimit-Limit", strconv.Itoa(q.limit.rate.Count))
	h.Set("Ratelimit-Remaining", strconv.Itoa(q.taken.Remaining))
	h.Set("Ratelimit-Reset", strconv.Itoa(policy.Seconds(q.taken.ResetAfter.Seconds())))
}

// Rewrites implements [policy.AnswerChanger]: answers to limited calls carry the quota.
func (p *RateLimits) Rewrites(r *policy.Request) policy.Rewrite {
	if leastLeft.Get(r) == nil {
		return policy.RewriteNothing
	}
	return policy.RewriteHeader
}

// Rewrite implements [policy.AnswerChanger].
func (p *RateLimits) Rewrite(r *policy.Request, answer *ask.Answer) error {
	leastLeft.Get(r).header(answer.Header)
	return nil
}

func (l *RateLimit) refuse(taken store.Taken) policy.Verdict {
	v := policy.TooMany(policy.Seconds(taken.RetryAfter.Seconds()))
	quota{l, taken}.header(v.Header)
	v.Rule, v.Pos, v.Origin = l.name(), l.At, l.Origin()
	return v
}

// String writes the limit as in the Caddyfile.
func (l *RateLimit) String() string {
	words := []string{"rate_limit", l.Rate}
	if l.Per != "" {
		words = append(words, "per", l.Per)
	}
	if l.Scope != "" {
		words = append(words, "scope", l.Scope)
	}
	if len(l.Methods) > 0 {
		words = append(words, strings.Join(l.Methods, ","))
	}
	return strings.Join(append(words, l.Routes...), " ")
}

// name is the limit's name in the log.
func (l *RateLimit) name() string {
	if l.From != "" {
		return "plugin " + l.From
	}
	return l.String()
}

// counted tells whether the limit has counted r by its other reading: one request counts once.
func (l *RateLimit) counted(r *policy.Request) bool {
	if r.WithOverride == nil {
		return false
	}
	why, err := l.mismatch(r.WithOverride)
	return err != nil || why == policy.Matches
}

// countsCaller tells whether the limit counts the caller of r: one who may hold a scope that it names. A second
// credential, of which nobody knows whether it counts, does not lead past it.
func (l *RateLimit) countsCaller(ctx context.Context, r *policy.Request) (bool, error) {
	if l.Scope == "" {
		return true, nil
	}
	names, err := r.MayHold(ctx)
	return l.by.Admits(caller.Caller{Scopes: names}), err
}

// client returns the key of the client that the limit counts by. All whose address the server does
// not know, as behind a socket, are one client.
func (l *RateLimit) client(ctx context.Context, r *policy.Request) (string, error) {
	if l.Per == "caller" || l.Per == "key" {
		name, err := l.caller(ctx, r)
		if name != "" || err != nil {
			return name, err
		}
	}
	return caller.AddressKey(r.Client), nil
}

// caller names a caller that the platform has confirmed: a user, or for "per key" a shop key. It returns "" for
// others.
func (l *RateLimit) caller(ctx context.Context, r *policy.Request) (string, error) {
	who, answer, err := r.Who(ctx)
	if err != nil || answer != nil {
		return "", err
	}
	if who.Kind == caller.KeyHolder && l.Per != "key" {
		return "", nil
	}
	return r.NameOf(who), nil
}

// EachRoute implements [policy.Router].
func (p *RateLimits) EachRoute(do func(policy.RouteLine)) {
	for _, l := range p.Limits {
		do(policy.RouteLine{At: l.At, Text: l.String(), Routes: l.target.Routes(), Own: l.From == ""})
	}
}

// Origin returns where the limit comes from.
func (l *RateLimit) Origin() policy.Origin {
	if l.From != "" {
		return policy.OriginPlugin
	}
	return policy.OriginOwn
}

// Why implements [policy.Explainer].
func (p *RateLimits) Why(v policy.Verdict) string {
	if v.Code == policy.CodeTooMany {
		return "The client has made more calls than the limit allows; it may try again later."
	}
	return ""
}
