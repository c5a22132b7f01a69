package abilities

import (
	"context"
	"net/http"
	"slices"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// confirmed keeps the confirmation that a call has used up.
var confirmed = policy.NewSlot[confirm.Confirmation](policy.OfRequest)

// Confirmed tells whether the call of r has used up a confirmation. The gateway must then call
// Answered.
func Confirmed(r *policy.Request) bool { return confirmed.Get(r) != nil }

// Answered ends the use of a confirmation. It gives it back, and says so, if the call provably
// never ran: by the platform's answer, or since never says so. Of the answer, nil if there is
// none that can be read, status and body count. The error is the store's.
func Answered(ctx context.Context, r *policy.Request, a *ask.Answer, never bool) (back bool, _ error) {
	c := confirmed.Get(r)
	if c == nil {
		return false, nil
	}
	confirmed.Set(r, nil)
	if never || a != nil && neverRan(r, a) {
		return true, waiting.Of(r.Site).Ledger.GiveBack(ctx, c)
	}
	return false, waiting.Of(r.Site).Ledger.Ran(ctx, c)
}

// ReadsAnswer tells whether an answer with a status may say that a call never ran.
func ReadsAnswer(status int) bool {
	_, rpc := before[status]
	_, rest := beforeREST[status]
	return rpc || rest
}

// before are the codes of JSON-RPC errors, by the status of the answer, that the adapter gives
// before it runs anything (docs/platform IV.7).
var before = map[int][]int{
	http.StatusBadRequest:   {-32700, -32600, -32006, -32007},
	http.StatusUnauthorized: {-32010, -32600},
	http.StatusNotFound:     {-32002, -32003, -32004, -32005, -32601},
	http.StatusOK:           {-32602}, // see noSession
}

// noSession is what adapters up to 0.4.1 say of a session that is not known. They give the same
// code for bad arguments.
const noSession = "Invalid params: Invalid or expired session"

// beforeREST are the codes of the platform's own errors, by status, to a message that never
// reaches the adapter: the body does not parse, or nobody is logged in.
var beforeREST = map[int][]string{
	http.StatusBadRequest:   {"rest_invalid_json"},
	http.StatusUnauthorized: {"rest_forbidden", "rest_not_logged_in", "incorrect_password", "invalid_username", "invalid_email"},
	http.StatusForbidden:    {"rest_cookie_invalid_nonce"},
}

// neverRan tells whether an answer proves that the call of r has not run. Only the adapter's to
// a call of a tool can: there all that a tool returns is within a result. Over REST, of a prompt
// and on other servers an error may be one that the ability has handed on after it ran.
func neverRan(r *policy.Request, a *ask.Answer) bool {
	if m := message.Read(r); m == nil || m.Message == nil || m.Method != mcp.ToolsCall || !toAdapter(r) {
		return false
	}
	if said, err := mcp.ReadAnswer(a.Body); err == nil && said.Error != nil {
		return slices.Contains(before[a.Status], said.Error.Code) && (a.Status != http.StatusOK || said.Error.Message == noSession)
	}
	return slices.Contains(beforeREST[a.Status], a.Code())
}

// toAdapter tells whether a call goes to a server of the adapter from 0.3 on: its own, or one
// that the REST index shows (docs/platform IV.1). Servers whose tools run REST calls inside are
// none.
func toAdapter(r *policy.Request) bool {
	return r.Call.Key == "/mcp/mcp-adapter-default-server" || innerRoot(r.Call.Key) == "" && discover.Of(r.Site).HasTools(r.HTTP.Host, r.Call.Route)
}
