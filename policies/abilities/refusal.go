package abilities

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// noUse ends the refusals that stay what they are: agents read the message, and some repeat a
// call in other words.
const noUse = " Repeating the same call does not help."

// forbid refuses what rule does not allow. It names only what the caller has called. That the
// site has nothing of that name it says only where the platform itself has told the caller, and
// no rule denies the name: of what is denied nobody learns whether it exists.
func (p *Abilities) forbid(rule Rule, s *Subject) policy.Verdict {
	v := policy.Forbidden()
	v.Message = fmt.Sprintf("Sorry, you are not allowed to use %s: the rules of this site do not allow it.", s.called())
	if s.unlisted && !rule.Deny {
		v.Message = fmt.Sprintf("The site lists nothing called %s, and its rules allow nothing of that name.", s.called())
	}
	if s.called() == "" {
		v.Message = policy.MessageForbidden
	}
	v.Message += noUse
	v.Rule, v.Pos = rule.line()
	if rule.Pattern != "" {
		v.Origin = rule.Origin()
	}
	return v
}

func invalid(message string) policy.Verdict {
	return policy.Verdict{Status: http.StatusBadRequest, Code: policy.CodeInvalidParam, Message: message + noUse}
}

// The values of Abilities.Refuse.
const (
	refuseError  = "error"
	refuseResult = "result"
)

// The codes of JSON-RPC errors (docs/platform IV.7).
const (
	rpcForbidden   = -32008
	rpcInvalid     = -32600
	rpcParams      = -32602
	rpcTooMany     = -32000
	rpcUnavailable = -32603
)

// WriteRefusal implements [policy.RefusalWriter]: servers of tools refuse with a JSON-RPC error. Its
// status is never 401 or 404, at which clients log in or begin anew (docs/platform IV.7).
func (p *Abilities) WriteRefusal(r *policy.Request, v policy.Verdict) *ask.Answer {
	if !p.guards() || r.Call.Kind != call.Single || r.Call.Wire != http.MethodPost || !p.isAgents(r) {
		return nil
	}
	code, text, status := string(p.site.Code(v.Code)), v.Message, v.Status
	if v.Answer != nil {
		status = v.Answer.Status
		said, words := v.Answer.Fault()
		code, text = cmp.Or(said, string(policy.CodePlatform)), cmp.Or(words, policy.MessageForbidden)
	}
	if status == http.StatusUnauthorized || status == http.StatusNotFound {
		status = http.StatusForbidden
	}
	if v.Answer == nil && v.Code != policy.CodeConfirm && lasting(v.Status) && !strings.HasSuffix(text, noUse) {
		text += noUse
	}
	if m := message.Read(r); p.Refuse == refuseResult && m != nil && m.Err == nil && m.Method == mcp.ToolsCall {
		return p.refuseAsResult(m, text)
	}
	data := map[string]any{"code": code, "status": status}
	maps.Copy(data, v.Data)
	return answerOf(status, map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(messageID(r)),
		"error": map[string]any{"code": rpcCode(status, v.Code), "message": text, "data": data},
	})
}

// messageID returns the id that the answer to the body of r should carry, as written.
func messageID(r *policy.Request) string {
	if m := message.Read(r); m != nil && m.Message != nil && m.ID != "" {
		return m.ID
	}
	body, _ := r.Call.RawBody() // without one the answer has no id
	return mcp.ID(body)
}

// lasting tells whether a refusal with a status stays the same for the same message.
func lasting(status int) bool {
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests && status != http.StatusTooEarly
}

// isAgents tells whether a call is an agent's: by its route, or by the message in its body. It
// reads no body that no policy has read.
func (p *Abilities) isAgents(r *policy.Request) bool {
	if p.isDoor(r) {
		return true
	}
	if message.Read(r) == nil {
		return false
	}
	runs, err := message.MayRun(r)
	return runs && err == nil
}

func (p *Abilities) refuseAsResult(m *message.Message, text string) *ask.Answer {
	return answerOf(http.StatusOK, map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(m.ID),
		"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true},
	})
}

func answerOf(status int, object map[string]any) *ask.Answer {
	body, _ := json.Marshal(object) // texts, numbers and an id that has been read: it cannot fail
	return &ask.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}

func rpcCode(status int, code policy.Code) int {
	switch {
	case code == policy.CodeInvalidParam:
		return rpcParams
	case status == http.StatusTooManyRequests:
		return rpcTooMany
	case status >= http.StatusInternalServerError:
		return rpcUnavailable
	case slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, status):
		return rpcInvalid
	}
	return rpcForbidden
}

// Why implements [policy.Explainer].
func (p *Abilities) Why(v policy.Verdict) string { return whys[v.Code] }

var whys = map[policy.Code]string{
	policy.CodeForbidden:    "The site does not allow this ability to run in this way.",
	policy.CodeInvalidParam: "The input does not fit the schema of the ability.",
	policy.CodeConfirm:      "A person must confirm this call before it runs.",
	policy.CodeTooMany:      "Too many calls of the caller, or of the site, wait for a person, or too many checks of credentials were needed.",
}
