// Package message reads the message of an agent out of a request, once for all policies.
package message

import (
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
)

// Message is what a client sends to a server of tools. Policies read it once together.
type Message struct {
	*mcp.Message
	Err error // a *call.Refusal: the body is no certain message
}

// messageSlot keeps the message of a call, once a policy has read it.
var messageSlot = policy.NewSlot[Message](policy.OfCall)

// In returns the message in the body of r.
func In(r *policy.Request) *Message {
	if m := messageSlot.Get(r); m != nil {
		return m
	}
	m := new(Message)
	var body []byte
	if body, m.Err = Body(r); m.Err == nil {
		m.Message, m.Err = mcp.Read(body, r.HTTP.Header)
	}
	messageSlot.Set(r, m)
	return m
}

// Read returns the message of r if a policy has read it, or nil.
func Read(r *policy.Request) *Message { return messageSlot.Get(r) }

// Settle lets go of the arguments. Who has recorded the message keeps them.
func (m *Message) Settle() {
	if m.Message != nil {
		settled := *m.Message
		settled.Input, settled.Arguments = nil, nil
		m.Message = &settled
	}
}

// Body returns the body of r, which should be a message. Queries may hold none: some
// servers ask WordPress for the members, which also finds them there.
func Body(r *policy.Request) ([]byte, error) {
	if err := plainQuery(r); err != nil {
		return nil, err
	}
	return r.Call.JSONBody()
}

// plainQuery refuses members of a message in the query.
func plainQuery(r *policy.Request) error {
	for _, name := range []string{"jsonrpc", "method", "params", "name", "arguments"} {
		if _, set := r.Call.QueryVariable(name); set {
			return call.Ambiguous("message")
		}
	}
	return nil
}

// Bodiless refuses a body where the protocol has none: some servers read it.
func Bodiless(r *policy.Request) error {
	if err := plainQuery(r); err != nil || r.HTTP.ContentLength == 0 {
		return err
	}
	body, err := r.Call.RawBody()
	if err == nil && len(body) > 0 {
		err = call.Ambiguous("message")
	}
	return err
}

// ToTools tells whether a call goes to a server of tools: a route with a segment that contains
// "mcp", or one that the REST index shows as such a server.
func ToTools(r *policy.Request) bool {
	return NamesTools(r.Call.Key) || discover.Of(r.Site).HasTools(r.HTTP.Host, r.Call.Route)
}

// NamesTools tells whether the key of a route names a server of tools. The routes by which
// clients of such servers log in are none. The core's own routes name plugins and templates,
// and those of settings name options.
func NamesTools(key string) bool {
	if rest, core := strings.CutPrefix(key, "/wp/v2/"); core {
		return strings.HasPrefix(rest, "wpmcp")
	}
	i := strings.Index(key, "mcp")
	return i >= 0 && !strings.Contains(key[i:], "/oauth/") && !strings.Contains(key[:i], "/settings/")
}

// Named are patterns of the keys that NamesTools knows by a whole segment, and of known roots: they tell regions of keys apart.
// Of others whose names hold the word within a segment only a key itself tells.
var Named = func() (found []routes.Pattern) {
	for _, root := range append([]string{"/mcp", "/*/mcp", "/*/*/mcp"}, InnerREST...) {
		found = append(found, routes.MustPattern(root+"/**"))
	}
	return found
}()

// maxUntyped bounds the bodies of other types than JSON in which MayRun looks for a message.
const maxUntyped = 1 << 20

// MayRun tells whether the body of a call on any route may be a message that runs something.
// The error is a *call.Refusal: nobody can tell of a body that the platform takes for JSON.
func MayRun(r *policy.Request) (bool, error) {
	length, contentType := r.HTTP.ContentLength, r.HTTP.Header.Get("Content-Type")
	if length == 0 {
		return false, nil
	}
	if phpvars.IsJSON(contentType) {
		body, err := r.Call.JSONBody()
		return err == nil && mcp.MayExecute(body), err
	}
	if hasParts(contentType) || length > maxUntyped {
		return false, nil
	}
	body, err := r.Call.RawBody()
	return err == nil && mcp.MayExecute(body), nil
}

// ToolBody returns the body of a call that a server of tools may read, whatever its type.
// PHP keeps no raw body of a multipart POST that it can read.
func ToolBody(r *policy.Request) ([]byte, error) {
	if hasParts(r.HTTP.Header.Get("Content-Type")) && r.Call.Wire == http.MethodPost {
		return nil, nil
	}
	return r.Call.RawBody()
}

// hasParts tells whether PHP reads a body as a multipart form. Without a boundary it leaves the
// body to others.
func hasParts(contentType string) bool {
	_, multipart := phpvars.FormKind(contentType)
	_, boundary, _ := strings.Cut(strings.ToLower(contentType), "boundary=")
	if quoted, is := strings.CutPrefix(boundary, `"`); is {
		before, _, closed := strings.Cut(quoted, `"`)
		return multipart && closed && before != ""
	}
	return multipart && strings.Trim(boundary, ",; ") != ""
}

// Call reads the message in the body of r for what it would run: also one that only some servers read.
func Call(r *policy.Request) (*mcp.Message, error) {
	if m := Read(r); m != nil && m.Message != nil { // mcp.ReadCall says the same of what mcp.Read takes
		return m.Message, m.Err
	}
	body, err := Body(r)
	if err != nil {
		return nil, err
	}
	return mcp.ReadCall(body, r.HTTP.Header)
}
