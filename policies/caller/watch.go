package caller

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Watch tells whether a request, if the platform answers that it worked, ends or changes
// somebody's rights. If so, drop must be called with status and header of the answer, and
// if body is true with the first WatchedBody bytes of the body. For all other requests
// drop is nil and Watch costs nothing. It may ask who is calling, so that it must be called
// before the request is sent on. w.Call is a page or a call.
func (ids *Identities) Watch(w *Whole) (drop func(*ask.Answer), body bool) {
	switch w.Call.Kind {
	case call.Page:
		return ids.watchPage(w)
	case call.Single, call.Batch:
		if enveloped(w.Call) {
			return nil, false
		}
		drop = ids.watchReading(w, w.Call)
		if other := w.Call.WithoutOverride(); other != nil {
			drop = both(drop, ids.watchDropped(w, other))
		}
	case call.Refused: // it never reaches the platform
	}
	return drop, false
}

// both returns a function that calls a and b, either of which may be nil.
func both(a, b func(*ask.Answer)) func(*ask.Answer) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(answer *ask.Answer) { a(answer); b(answer) }
}

// watchDropped watches other, what the call of w is to a server that drops its override. A success
// does not show there that the caller may write: the platform may have run the call as it was sent,
// such as OPTIONS, which it answers to anybody. Who may be anybody drops nothing.
func (ids *Identities) watchDropped(w *Whole, other *call.Call) func(*ask.Answer) {
	drop := ids.watchReading(w, other)
	if drop == nil {
		return nil
	}
	switch who, answer, err := w.Who(w.HTTP.Context()); {
	case err != nil, answer != nil, who.Kind == Anonymous, who.Kind == Unverified:
		return nil
	case w.mayWriteToOthers():
		return drop
	}
	return ids.watchOwn(w, dropLogin)
}

// mayWriteToOthers tells whether the caller of w may write to other accounts, as far as the platform says.
func (w *Whole) mayWriteToOthers() bool {
	ctx := w.HTTP.Context()
	_, answer, err := w.Who(ctx)
	if err != nil || answer != nil {
		return false
	}
	who, err := w.Rights(ctx)
	return err == nil && who.Kind != Anonymous && (who.Kind != User || who.NoCapabilities || who.Can("edit_users"))
}

// watchReading watches c, one of the readings of the call of w.
func (ids *Identities) watchReading(w *Whole, c *call.Call) func(*ask.Answer) {
	if c.Kind == call.Single {
		return ids.watchCall(w, c)
	}
	if !slices.ContainsFunc(c.Parts, func(part *call.Call) bool { return ids.watchCall(w, part) != nil }) {
		return nil
	}
	who, known := w.Known()
	switch {
	case tellsOfParts(c), known && w.mayWriteToOthers():
		return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: dropAll})
	case known && who.ID != 0: // no other account than the own
		return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: dropUser, user: who.ID})
	}
	return nil
}

// enveloped tells whether the status of the answer is always 200: with this variable the
// platform writes the true status into the body.
func enveloped(c *call.Call) bool {
	_, set := c.QueryVariable("_envelope")
	return set
}

// tellsOfParts tells whether a success of a batch means that the caller could change the parts.
// The shop judges its batches as a whole. The core and the checkout judge part by part, and
// answer everybody with success.
func tellsOfParts(c *call.Call) bool {
	return !strings.HasSuffix(c.Key, "/v1/batch") && c.Key != "/batch/v1"
}

// watchCall recognizes writes to users, to their application passwords (E4), and to the
// shop's customers, who are users. It drops the user that the path names. Where the platform may
// take the id from elsewhere, it drops all users, or the caller who may edit no other one.
func (ids *Identities) watchCall(w *Whole, c *call.Call) func(*ask.Answer) {
	if c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodOptions {
		return nil
	}
	rest, ok := strings.CutPrefix(c.Key, "/"+w.Site.Platform.Core+"/users/")
	if !ok {
		if rest, ok = w.Site.customer(c.Key); !ok || !changesRights(c) {
			return nil
		}
	}
	name, below, _ := strings.Cut(rest, "/")
	whom := dropLogin
	if c.Method == http.MethodDelete && below == "" {
		whom = dropUser
	}
	param, own := "id", name == "me"
	if strings.Contains(rest, "/application-passwords") {
		param = "user_id"
		if v, set, err := c.Scalar(param); set || err != nil {
			own = err == nil && v == "me"
		}
	}
	if own {
		return ids.watchOwn(w, whom)
	}
	users, err := c.IDs(param, name)
	if err != nil || len(users) > 1 {
		if !w.mayWriteToOthers() {
			return ids.watchOwn(w, whom)
		}
		return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: dropAll})
	}
	return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: whom, user: users[0]})
}

// watchOwn watches a write to the caller's own account. If no rule has asked who that is, the
// gateway asks before the write, after which the password may be another one. It drops nothing
// of nobody, who has no account, nor of a client that sees to it that there is no question, by
// unclear credentials or by too many. If the platform does not say who it is, watchOwn drops all.
func (ids *Identities) watchOwn(w *Whole, whom dropKind) func(*ask.Answer) {
	who, answer, err := w.Who(w.HTTP.Context())
	switch {
	case err != nil && !errors.Is(err, ask.ErrUndecided):
		return nil
	case err != nil || answer != nil || who.Kind != Anonymous && who.ID == 0:
		return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: dropAll})
	case who.Kind == Anonymous:
		return nil
	}
	return ids.dropIf(w, (*ask.Answer).Worked, dropping{whom: whom, user: who.ID})
}

// customer returns the rest of key after the route of the shop's customers.
func (s *Site) customer(key string) (rest string, ok bool) {
	for _, ns := range s.Platform.Shop {
		if rest, ok = strings.CutPrefix(key, "/"+ns+"/customers/"); ok {
			return rest, true
		}
	}
	return "", false
}

// changesRights tells whether a write to a customer changes more than names and
// addresses, which shops update by the thousand.
func changesRights(c *call.Call) bool {
	if c.Method == http.MethodDelete {
		return true
	}
	for _, name := range []string{"password", "role"} {
		if _, set, err := c.Scalar(name); set || err != nil {
			return true
		}
	}
	return false
}

// dropIf returns a function that drops what d covers if the answer shows that the request
// worked.
func (ids *Identities) dropIf(w *Whole, worked func(*ask.Answer) bool, d dropping) func(*ask.Answer) {
	ctx, store := context.WithoutCancel(w.HTTP.Context()), w.Site.Store
	return func(a *ask.Answer) {
		if worked(a) {
			ids.drop(ctx, store, d)
		}
	}
}
