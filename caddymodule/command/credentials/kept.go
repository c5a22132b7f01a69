package credentials

import (
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/caller"
)

// name is what a credential is called: the end of a key, a uuid or a login.
type name struct {
	site string
	kind caller.CredentialKind
	text string
}

// credential is what is known of one.
type credential struct {
	addresses    *few[string, int64] // at which the platform has accepted it, with calls
	days         map[int64]struct{}
	first, last  time.Time
	scope, login latest
	calls        int64
	strange      int64 // calls from elsewhere that only name it
}

// latest is the text of the last line that has one.
type latest struct {
	text string
	at   time.Time
}

func (l *latest) see(text string, at time.Time) {
	if text != "" && (at.After(l.at) || at.Equal(l.at) && text > l.text) {
		*l = latest{cut(text), at}
	}
}

// subject is what calls have in common that count as one.
type subject struct {
	of            name
	method, route string
	door          bool // the batch itself; its calls are those of the parts
}

// row is what is known of such calls.
type row struct {
	calls, denied int64 // denied by the platform, with 401 or 403
	last          time.Time
}

// refusal is what refusals have in common that count as one.
type refusal struct {
	of            name
	code, outcome string
}

// siteCalls counts the calls of a site whose credential is only claimed.
type siteCalls struct{ claimed int64 }

// nameOf returns what a credential is called. ok is false where the line does not tell.
func nameOf(site string, c *record.Credential) (n name, ok bool) {
	n = name{site: cut(site), kind: caller.CredentialKind(cut(c.Kind))}
	switch {
	case c.Key != "":
		n.text = cut(c.Key)
	case c.UUID != "":
		n.text = cut(c.UUID)
	default:
		n.text = strings.ToLower(cut(c.Login)) // the platform does not tell letters apart
	}
	return n, n.text != ""
}

// number orders credentials: of too many those of users go first, since there may be one for each customer.
func (n *name) number() uint64 {
	first := map[caller.CredentialKind]uint64{caller.CredentialKey: 0, caller.CredentialPassword: 1}
	rank, is := first[n.kind]
	if !is {
		rank = 2
	}
	return rank<<62 | numberOf(n.site, string(n.kind), n.text)>>2
}

// see adds a call to what is known of its credential.
func (k *credential) see(of *records.Call, at time.Time, timed bool) {
	k.calls++
	k.scope.see(of.Credential.Scope, at)
	k.login.see(of.Credential.Login, at)
	if k.addresses != nil {
		if calls := k.addresses.get(cut(of.ClientIP)); calls != nil {
			*calls++
		}
	}
	if !timed {
		return
	}
	if k.first.IsZero() || at.Before(k.first) {
		k.first = at
	}
	if at.After(k.last) {
		k.last = at
	}
	if k.days == nil {
		k.days = map[int64]struct{}{}
	}
	if day := at.Unix() / (24 * 60 * 60); len(k.days) < maxDays {
		k.days[day] = struct{}{}
	}
}

// cut bounds a text of a line.
func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
