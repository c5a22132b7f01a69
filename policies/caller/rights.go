package caller

import "context"

// Rights is Who for a rule that asks for roles or capabilities, once Who has found the caller. It
// asks the platform for those of a user of whom Who does not tell them.
func (w *Whole) Rights(ctx context.Context) (Caller, error) {
	who, known := w.Known()
	if !known || w.rights || who.Kind != User {
		return who, w.err
	}
	var err error
	named := w.claim == ClaimUser
	if w.claim == ClaimSession {
		who, named, err = w.rightsOfSession(ctx, who)
	}
	if err == nil && named && who.hasNothing() {
		var seen Caller
		seen, _, err = w.Site.Identities.find(ctx, w, ClaimAdministrator)
		who.Administrator = seen.Administrator
	}
	if err != nil {
		return Caller{}, err
	}
	w.caller, w.rights = who, true
	return who, nil
}

// hasNothing tells whether the platform says that c has neither role nor capability.
func (c Caller) hasNothing() bool {
	return !c.NoRoles && !c.NoCapabilities && len(c.Roles) == 0 && len(c.Capabilities) == 0
}

// rightsOfSession asks for the current user where the session comes with what counts outside of the
// checkout API as well. The cart tells no roles. named is true if users/me has named that user.
func (w *Whole) rightsOfSession(ctx context.Context, who Caller) (found Caller, named bool, err error) {
	own, err := w.hasOwnLogin()
	if err != nil {
		return Caller{}, false, err
	}
	if nonce, err := w.hasNonce(); !own && !nonce || err != nil {
		return who, false, err
	}
	user, answer, err := w.Site.Identities.find(ctx, w, ClaimUser)
	if err != nil || answer != nil || user.ID != who.ID { // the shop has named another one
		return who, false, err
	}
	return user, true, nil
}
