package policies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/nearest"
)

// The values of Abilities.Refuse.
const (
	refuseError  = "error"
	refuseResult = "result"
)

func (p *Abilities) checkRefuse() error {
	if err := nearest.Check(orDefault(p.Refuse, refuseError), refuseError, refuseResult); err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	return nil
}

// The codes of JSON-RPC errors (docs/platform IV.7).
const (
	rpcForbidden   = -32008
	rpcInvalid     = -32600
	rpcParams      = -32602
	rpcTooMany     = -32000
	rpcUnavailable = -32603
)

// WriteRefusal implements RefusalWriter: servers of tools refuse with a JSON-RPC error. Its
// status is never 401 or 404, at which clients log in or begin anew (docs/platform IV.7).
func (p *Abilities) WriteRefusal(r *Request, v Verdict) *ask.Answer {
	if !p.guards() || r.Call.Kind != call.Single || r.Call.Wire != http.MethodPost || r.agent == nil && !p.isDoor(r) {
		return nil
	}
	code, message, status := string(p.site.Code(v.Code)), v.Message, v.Status
	if v.Answer != nil {
		status = v.Answer.Status
		said, words := v.Answer.Fault()
		code, message = cmp.Or(said, string(CodePlatform)), cmp.Or(words, MessageForbidden)
	}
	if status == http.StatusUnauthorized || status == http.StatusNotFound {
		status = http.StatusForbidden
	}
	if m := r.agent; p.Refuse == refuseResult && m != nil && m.err == nil && m.Method == mcp.ToolsCall {
		return p.refuseAsResult(m, message)
	}
	body, _ := r.Call.RawBody() // without one the answer has no id
	return answerOf(status, map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(mcp.ID(body)),
		"error": map[string]any{"code": rpcCode(status, v.Code), "message": message, "data": p.refusalData(code, status, v)},
	})
}

func (p *Abilities) refusalData(code string, status int, v Verdict) map[string]any {
	data := map[string]any{"code": code, "status": status}
	maps.Copy(data, v.Data)
	return data
}

func (p *Abilities) refuseAsResult(m *message, text string) *ask.Answer {
	return answerOf(http.StatusOK, map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(m.ID),
		"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true},
	})
}

func answerOf(status int, object map[string]any) *ask.Answer {
	body, _ := json.Marshal(object) // texts, numbers and an id that has been read: it cannot fail
	return &ask.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}

func rpcCode(status int, code Code) int {
	switch {
	case code == CodeInvalidParam:
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
