package access

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/rewrite"
)

// LockdownName is the name of the lockdown where refusals name a policy and a rule.
const LockdownName = "lockdown"

// The messages of refusals by a lockdown, and by a line that closes a call.
const (
	messageLockdown = "The REST API is closed to visitors for the moment."
	messageClosed   = "This call is closed to visitors for the moment."
)

// Closed is the lockdown. It is no entry of the catalog, since nobody configures it.
var Closed = policy.Entry{
	Name: LockdownName, New: func() policy.Policy { return new(lockdown) },
	Codes: []policy.Code{policy.CodeNotLoggedIn, policy.CodeTooMany, policy.CodePlatform},
}

// lockdown carries out what the owner has switched on. It closes the calls that a line `close` names to everybody whom the platform
// has not verified. A lockdown closes a site's REST interface to anonymous callers while the owner has
// switched it on. What stays open then: the routes of the site's own rules "allow anyone" and
// "allow signed", unless a built-in rule guards the call as well, and the shop's checkout. A
// hard lockdown closes the checkout, whichever rule opens it to anyone: a login_only shop has
// such rules, or it would sell nothing. It enforces whatever the modes say.
type lockdown struct {
	access *Access // nil if the policy access is off
}

// Accompany implements [policy.Companion]: what stays open stands in the rules.
func (p *lockdown) Accompany(other policy.Policy) {
	if access, ok := other.(*Access); ok {
		p.access = access
	}
}

// CheckReading refuses what has no certain reading, since it may be a call that is closed.
func (p *lockdown) CheckReading(r *policy.Request) (policy.Verdict, error) {
	v, err := policy.CheckReading(r)
	if v.Refused() || err != nil {
		return v, err
	}
	return v, r.CheckClosed()
}

// Check refuses the calls of anonymous callers, but for what is open.
func (p *lockdown) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, false)
}

func (p *lockdown) check(ctx context.Context, r *policy.Request, early bool) (policy.Verdict, error) {
	if line, closed := r.InForce.Closed(r.Call); closed {
		return checkClosed(ctx, r, line)
	}
	if !r.InForce.Locked {
		return policy.Verdict{}, nil
	}
	open, signed, err := p.opens(r, early)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case open:
		return checkOpen(ctx, r)
	}
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return inOneWord(answer), nil
	case who.Kind != caller.Anonymous:
		return policy.Verdict{}, nil
	case signed:
		r.MustSign = true
		return policy.Verdict{}, nil
	}
	return policy.Verdict{Status: http.StatusUnauthorized, Code: policy.CodeNotLoggedIn, Message: messageLockdown, Rule: LockdownName}, nil
}

// checkClosed refuses a call that a line closes to whom the platform has not verified.
func checkClosed(ctx context.Context, r *policy.Request, line policy.Match) (policy.Verdict, error) {
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return inOneWord(answer), nil
	case who.Accepted():
		return policy.Verdict{}, nil
	}
	return policy.Verdict{
		Status: http.StatusUnauthorized, Code: policy.CodeNotLoggedIn, Message: messageClosed, Rule: line.Rule.String(), Origin: policy.OriginSwitch,
	}, nil
}

// CheckEarly judges a batch by its own route.
func (p *lockdown) CheckEarly(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, true)
}

// opens tells whether the call is open to anyone, or to anyone with a signature. A part of
// a batch has no signature of its own. early leaves out conditions about parameters.
func (p *lockdown) opens(r *policy.Request, early bool) (open, signed bool, err error) {
	own := policy.Match{}
	if p.access != nil {
		quiet := *r
		quiet.Trace = nil // the policy access reports the rules that it considers
		var guard policy.Match
		if guard, own = p.access.decide(&quiet); guard.Rule != nil {
			return false, false, nil
		}
	}
	checkout := r.Site.InCheckout(r.Call)
	if checkout && !r.InForce.Hard {
		return true, false, nil
	}
	if own.Rule == nil || own.Rule == &defaultAnyone || own.Rule.Origin() == policy.OriginSwitch || own.Rule.Who() != policy.Anyone && own.Rule.Who() != policy.BySignature {
		return false, false, nil
	}
	if open = own.Rule.Who() == policy.Anyone; open && checkout {
		return false, false, nil
	}
	if err := own.ProtectNames(r.Call); err != nil {
		return false, false, err
	}
	if met, err := meets(r, own, early); !met || err != nil {
		return false, false, err
	}
	return open, !open && !r.IsPart, nil
}

// Rewrites asks for the body of an answer with embedded objects, since the platform itself
// runs a call for each.
func (p *lockdown) Rewrites(r *policy.Request) policy.Rewrite {
	if r.InForce.Enforces() && r.Call.Kind == call.Single && !r.Call.Foreign && r.Call.Embeds() {
		if locked, closed := keptOut(r); locked || closed {
			return policy.RewriteBody
		}
	}
	return policy.RewriteNothing
}

// keptOut tells whether the caller is one of those whom a lockdown keeps out, and of those whom a line does that closes calls.
func keptOut(r *policy.Request) (locked, closed bool) {
	who, answer, err := r.Who(r.HTTP.Context())
	unknown := err != nil || answer != nil
	return r.InForce.Locked && (unknown || who.Kind == caller.Anonymous), len(r.InForce.Closes()) > 0 && (unknown || !who.Accepted())
}

// Rewrite replaces the embedded objects that the lockdown closes.
func (p *lockdown) Rewrite(r *policy.Request, a *ask.Answer) error {
	locked, _ := keptOut(r)
	return rewriteEmbedded(r, a, func(embedded *call.Call, value jsontext.Value) jsontext.Value {
		if embedded != nil && p.showsEmbedded(r.Part(embedded), locked) {
			return value
		}
		return rewrite.ForbiddenEmbed()
	})
}

// showsEmbedded tells whether an embedded object is open to a caller whom lines that close calls keep out, and a lockdown
// if locked.
func (p *lockdown) showsEmbedded(r *policy.Request, locked bool) bool {
	if _, closed := r.InForce.Closed(r.Call); closed {
		return false
	}
	if !locked {
		return true
	}
	open, _, _ := p.opens(r, false) // not where it has an error
	return open
}

// Why implements [policy.Explainer].
func (p *lockdown) Why(v policy.Verdict) string {
	switch {
	case v.Origin == policy.OriginSwitch:
		return "The site's owner has closed this call to everybody whom the platform does not know, and the caller sent no login that counts here."
	case v.Code == policy.CodeNotLoggedIn:
		return "The site's owner has closed the REST interface to visitors for a while, and the caller sent no login that counts here."
	}
	return whyLogin(v)
}
