package caller

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/store"
)

// dropping says which answers are dropped.
type dropping struct {
	whom    dropKind
	user    uint64
	session string // hash of the login cookies
	hasher  string // identifies the secret of that hash
}

type dropKind string

const (
	dropAll     dropKind = "all"
	dropUser    dropKind = "user"  // and the shop keys, any of which may be the user's
	dropLogin   dropKind = "login" // what the user logs in with, on which no shop key depends
	dropSession dropKind = "session"
)

// covers tells whether d drops e. Entries without a user id go with every user, since
// their user is unknown. A shop key counts until it or its user is deleted (docs/platform
// III.8), whatever else changes.
func (d dropping) covers(e identityEntry, h *hasher) bool {
	switch {
	case d.whom == dropUser:
		return e.caller.ID == d.user || e.caller.ID == 0
	case d.whom == dropLogin:
		return e.caller.ID == d.user || e.caller.ID == 0 && e.caller.Kind != KeyHolder
	case d.whom == dropSession && d.hasher == h.id:
		return e.session == d.session
	case d.whom == dropSession: // hashes with another secret cannot be compared
		return e.session != ""
	}
	return true
}

// String writes d as gateways send it to each other.
func (d dropping) String() string {
	switch d.whom {
	case dropUser, dropLogin:
		return string(d.whom) + " " + strconv.FormatUint(d.user, 10)
	case dropSession:
		return string(dropSession) + " " + d.hasher + " " + hex.EncodeToString([]byte(d.session))
	default:
		return string(dropAll)
	}
}

// parseDropping reads what String writes. Any other text drops everything: it may come
// from a gateway of another release.
func parseDropping(text string) dropping {
	words := strings.Split(text, " ")
	switch whom := dropKind(words[0]); {
	case (whom == dropUser || whom == dropLogin) && len(words) == 2:
		if id, err := strconv.ParseUint(words[1], 10, 64); err == nil {
			return dropping{whom: whom, user: id}
		}
	case whom == dropSession && len(words) == 3:
		if session, err := hex.DecodeString(words[2]); err == nil && len(session) > 0 {
			return dropping{whom: whom, hasher: words[1], session: string(session)}
		}
	}
	return dropping{whom: dropAll}
}

// forget drops from this gateway's memory what d covers.
func (ids *Identities) forget(d dropping) {
	h := ids.cache.hasher.Load()
	ids.cache.drop(func(e identityEntry) bool { return d.covers(e, h) })
}

// drop forgets what d covers, here and on every gateway of the store.
func (ids *Identities) drop(ctx context.Context, store store.Store, d dropping) {
	ids.forget(d)
	if ids.shared != nil {
		ids.shared.tell(ctx, store, d)
		ids.forget(d) // forget again: the store may have returned an old answer meanwhile
	}
}

// Forget drops all callers from this gateway's memory.
func (ids *Identities) Forget() { ids.forget(dropping{whom: dropAll}) }
