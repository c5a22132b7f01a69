package gateway

import (
	"reflect"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/policy"
)

// credentialUse is a request that passes, for the journal and for the status of scopes. Both tell of it once the platform
// has answered, which may verify the credential.
type credentialUse struct {
	s          *site
	credential record.Credential
	proven     bool // an answer with 2xx, in JSON, verifies the credential
	lines      []record.Call
	heard      heard
	start      time.Time
}

// credentialUse returns what is to be told of a request that passes, or nil. It asks nothing and reads no body. A request
// without a credential takes no memory. It prepares x for listening to the platform's answer where that counts.
func (s *site) credentialUse(x *exchange, d policy.Decision, start time.Time) *credentialUse {
	if d.Outcome == policy.Refuse || s.g.app.dry != nil {
		return nil
	}
	calls := s.journaledOf(x)
	if s.Scopes == nil && len(calls) == 0 {
		return nil
	}
	credential := credentialOf(&x.req)
	lines := s.journalLines(x, calls, credential)
	if credential.Scope == "" && len(lines) == 0 {
		return nil
	}
	u := &credentialUse{s: s, credential: credential, lines: lines, start: start}
	u.proven = credential.Claimed && credential.Key+credential.Login != "" && x.req.ProvenByAnswer()
	if len(lines) > 0 || u.proven {
		x.next = &listener{next: x.next, heard: &u.heard}
	}
	return u
}

// end tells of the request.
func (u *credentialUse) end() {
	u.credential.Claimed = u.credential.Claimed && (!u.proven || !u.heard.verifies())
	if u.credential.Scope != "" && !u.credential.Claimed {
		u.s.state.scopes.used(u.credential.Scope, time.Now())
	}
	took := time.Since(u.start)
	for i := range u.lines {
		line := &u.lines[i]
		line.Credential, line.Status, line.Took = u.credential, u.heard.status, took
		if entry := u.s.journaled.Check(zap.InfoLevel, "call passed"); entry != nil {
			entry.Write(zap.Inline(object{reflect.ValueOf(line).Elem()}))
		}
	}
}
