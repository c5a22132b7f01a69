package site

import (
	"net/http"
	"slices"
	"time"
)

// toolSession is a session of an agent: its user's, on all servers of the adapter
// (docs/platform IV.4, 2).
type toolSession struct {
	id   string
	used time.Time
}

const (
	maxToolSessions = 32
	toolSessionIdle = 24 * time.Hour
)

// startToolSession notes a new session. The oldest makes room for it.
func (u *user) startToolSession(id string, now time.Time) {
	if len(u.toolSessions) == maxToolSessions {
		u.toolSessions = slices.Delete(u.toolSessions, 0, 1)
	}
	u.toolSessions = append(u.toolSessions, toolSession{id, now})
}

// checkToolSession returns an error unless the call names a session of its user.
func (q *request) checkToolSession() error {
	id, now := q.header.Get("Mcp-Session-Id"), q.site.opt.Now()
	if id == "" {
		return errNoSessionHeader
	}
	for i := range q.user.toolSessions {
		if t := &q.user.toolSessions[i]; t.id == id && now.Sub(t.used) < toolSessionIdle {
			t.used = now
			return nil
		}
	}
	return &rpcError{rpcNoSession, "Session not found: Invalid or expired session"}
}

var errNoSessionHeader = &rpcError{rpcInvalid, "Invalid Request: Missing Mcp-Session-Id header"}

// endToolSession answers DELETE. A session of somebody else stays, which the answer does
// not tell.
func endToolSession(q *request) (any, error) {
	id := q.header.Get("Mcp-Session-Id")
	if id == "" {
		return rpcReply(errNoSessionHeader)
	}
	q.user.toolSessions = slices.DeleteFunc(q.user.toolSessions, func(t toolSession) bool { return t.id == id })
	return &reply{status: http.StatusOK}, nil
}
