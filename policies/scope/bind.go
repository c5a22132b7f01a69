package scope

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// binding is which scopes bind a request, found out once for all its calls.
type binding struct {
	scopes  []*Scope
	byKey   []*Scope       // those of them that bind a shop key
	uuid    string         // of the application password in Authorization, where it was asked for
	verdict policy.Verdict // the refusal where that cannot be known
	err     error          // why, where that is for the chain to word
}

// bindings keeps the binding of a request.
var bindings = policy.NewSlot[binding](policy.OfRequest)

// bound returns the scopes that bind r: those of every credential that it carries. It asks the platform only for what
// has a scope, and what the request does not say by itself.
func (p *Scopes) bound(ctx context.Context, r *policy.Request) *binding {
	if b := bindings.Get(r); b != nil {
		return b
	}
	presented, err := r.Presented()
	if len(presented) == 0 && err == nil && (!p.users.any || !r.SaysUser()) {
		return &unbound
	}
	b := &binding{}
	if err == nil || b.undecided(err, p.Scopes) {
		b.bind(ctx, p, r, presented)
	}
	bindings.Set(r, b)
	return b
}

// unbound is the binding of a request without a credential that has a scope.
var unbound binding

func (b *binding) bind(ctx context.Context, p *Scopes, r *policy.Request, presented []caller.Credential) {
	for _, kind := range [...]struct {
		bind  func(context.Context, *Scopes, *policy.Request, []caller.Credential) error
		names func(*Scope) []string
	}{
		{b.bindKeys, func(s *Scope) []string { return s.Keys }},
		{b.bindUsers, func(s *Scope) []string { return s.Users }},
		{b.bindPassword, func(s *Scope) []string { return s.Passwords }},
	} {
		err := kind.bind(ctx, p, r, presented)
		if err != nil && !b.undecided(err, p.where(func(s *Scope) bool { return len(kind.names(s)) > 0 })) {
			return
		}
	}
}

// undecided refuses what some scopes could not decide, and tells whether they all only observe. What binds a credential
// is not for on_error to let pass.
func (b *binding) undecided(err error, scopes []*Scope) bool {
	if observe(scopes) {
		b.verdict = observed(err)
		return true
	}
	if _, refused := errors.AsType[*call.Refusal](err); refused || errors.Is(err, ask.ErrTooMany) {
		b.err = err
	} else {
		b.verdict = policy.CouldNotDecide(err)
	}
	return false
}

// observed is what scopes that only observe would refuse for an error.
func observed(err error) policy.Verdict {
	v := policy.CouldNotDecide(err)
	if refusal, ok := errors.AsType[*call.Refusal](err); ok {
		v = policy.FromRefusal(refusal)
	} else if errors.Is(err, ask.ErrTooMany) {
		v = policy.TooMany(1)
	}
	v.Observed = true
	return v
}

// observe tells whether all scopes only observe.
func observe(scopes []*Scope) bool {
	return !slices.ContainsFunc(scopes, func(s *Scope) bool { return !s.observes() })
}

func (b *binding) add(scopes []*Scope) {
	for _, s := range scopes {
		if !slices.Contains(b.scopes, s) {
			b.scopes = append(b.scopes, s)
		}
	}
}

// bindKeys binds shop keys, by what the request says. A spelling that the shop would clean may be any key.
func (b *binding) bindKeys(_ context.Context, p *Scopes, _ *policy.Request, presented []caller.Credential) error {
	if !p.keys.any {
		return nil
	}
	for _, c := range presented {
		switch {
		case c.Kind != caller.CredentialKey:
		case c.Unclean:
			return call.Ambiguous("shop_key")
		default:
			b.add(p.keys.of(c.Key))
		}
	}
	b.byKey = b.scopes // keys come first
	return nil
}

// bindUsers binds users. A login cookie has the login name itself, which nobody can spell otherwise. Of any other
// log-in, which may be by an e-mail, the platform says whose it is.
func (b *binding) bindUsers(ctx context.Context, p *Scopes, r *policy.Request, presented []caller.Credential) error {
	if !p.users.any {
		return nil
	}
	for _, c := range presented {
		login := strings.ToLower(c.Login)
		_, named := p.users.named[login]
		switch {
		case c.Kind == caller.CredentialKey:
			continue
		case named, c.Kind == caller.CredentialUser:
			b.add(p.users.of(login))
		}
		if c.Kind == caller.CredentialPassword && (!named || strings.Contains(login, "@")) { // it may be the e-mail of another user
			if err := b.bindUser(p)(r.ByPassword(ctx)); err != nil {
				return err
			}
		}
	}
	if r.SaysUser() {
		return b.bindUser(p)(r.ByToken(ctx))
	}
	return nil
}

// bindUser binds the user whom the platform has named. One whom it refuses, or takes for nobody, may do nothing.
func (b *binding) bindUser(p *Scopes) func(caller.Caller, *ask.Answer, error) error {
	return func(who caller.Caller, answer *ask.Answer, err error) error {
		switch {
		case err != nil:
			return err
		case answer != nil || who.Kind != caller.User:
			return nil
		case who.Login == "":
			return caller.Untold("username")
		}
		b.add(p.users.of(strings.ToLower(who.Login)))
		return nil
	}
}

// bindPassword binds the application password in Authorization. The platform says which one it is.
func (b *binding) bindPassword(ctx context.Context, p *Scopes, r *policy.Request, presented []caller.Credential) error {
	isPassword := func(c caller.Credential) bool { return c.Kind == caller.CredentialPassword }
	if !p.passwords.any || !slices.ContainsFunc(presented, isPassword) {
		return nil
	}
	uuid, err := r.Password(ctx)
	if b.uuid = uuid; uuid != "" {
		b.add(p.passwords.of(uuid))
	}
	return err
}
