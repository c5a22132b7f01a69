package ratelimit

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

func isMessage(method string) bool { return slices.Contains(mcp.Methods, method) }

// meansMessage tells whether a word is a message's method, or a slip for one.
func meansMessage(word string) bool {
	return isMessage(word) || typo.Hint(word, policy.KnownMethods...) == "" && typo.Hint(word, mcp.Methods...) != ""
}

// onlyMessages checks the methods of a limit that counts messages.
func onlyMessages(methods []string) error {
	for _, m := range methods {
		switch {
		case slices.Contains(policy.KnownMethods, m):
			return fmt.Errorf("%s is a method of HTTP and the others are of agents' messages: a limit counts either; "+
				"leave %s out, since messages count however they are sent, or write a line of its own for it", m, m)
		case !isMessage(m):
			return fmt.Errorf("%q is none of the methods of agents' messages (%s)%s",
				m, strings.Join(mcp.Methods, ", "), policy.Prefixed(": ", typo.Hint(m, mcp.Methods...)))
		}
	}
	return nil
}

// onlyServers refuses a limit of messages on every route. A body without a certain reading
// counts, so that uploads of people would use it up.
func (l *RateLimit) onlyServers() error {
	for i := range l.target.Routes() {
		if l.messages != nil && l.target.Routes()[i].OfAll() {
			return fmt.Errorf("a limit of agents' messages counts uploads and forms on %s, too: name the routes of servers, such as /mcp/**", l.target.Routes()[i])
		}
	}
	return nil
}

// mismatch says why the limit does not count the call, if so. A message counts with any
// method of HTTP: some servers read it with each (docs/platform IV.1, IV.2). A body without
// a certain reading counts, since some server may take it for one of the limit's messages;
// to refuse it is for other policies.
func (l *RateLimit) mismatch(r *policy.Request) (policy.Mismatch, error) {
	switch {
	case l.target.Route(r.Call) == nil:
		return l.target.WhyNot(r.Call), nil
	case l.messages == nil:
		return policy.Matches, nil
	case r.HTTP.ContentLength == 0:
		return policy.OtherMessage, nil
	}
	m := message.In(r)
	switch refusal, unread := errors.AsType[*call.Refusal](m.Err); {
	case m.Err == nil && !m.Is(l.messages...):
		return policy.OtherMessage, nil
	case m.Err != nil && (!unread || refusal.Status >= http.StatusInternalServerError):
		return policy.Matches, m.Err // the body could not be read, which is not the client's doing
	}
	return policy.Matches, nil
}
