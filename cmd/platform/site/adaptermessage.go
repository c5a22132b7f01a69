package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// protocolVersions are those that the adapter knows; the first is its answer to any other
// (docs/platform IV.8).
var protocolVersions = []string{"2025-11-25", "2025-06-18", "2024-11-05"}

// answer reads one message and answers it: nil for a notification. An error ends the call,
// whatever other messages it has (docs/platform IV.2).
func (v *toolServer) answer(q *request, message any) (obj, error) {
	m := object(message)
	switch {
	case m == nil:
		return nil, errHandler
	case m["jsonrpc"] != "2.0":
		return (&rpcError{rpcInvalid, `Invalid Request: jsonrpc version must be "2.0"`}).failed(nil), nil
	case m["method"] == nil && m["result"] == nil && m["error"] == nil:
		return (&rpcError{rpcInvalid, "Invalid Request: Message must have either method or result/error field"}).failed(nil), nil
	case m["method"] == nil || m["id"] == nil: // an answer, or a notification
		return nil, nil //nolint:nilnil // neither is answered
	}
	method, ok := m["method"].(string)
	params := object(m["params"])
	if !ok || params == nil && m["params"] != nil {
		return nil, errHandler
	}
	result, err := v.call(q, method, params)
	var e *rpcError
	switch {
	case errors.As(err, &e) && e != errHandler:
		return e.failed(m["id"]), nil
	case err != nil:
		return nil, err
	}
	return obj{"jsonrpc": "2.0", "id": m["id"], "result": result}, nil
}

// call runs a method within the session that the call names.
func (v *toolServer) call(q *request, method string, params obj) (any, error) {
	if method == "initialize" {
		return v.initialize(q, params), nil
	}
	if err := q.checkToolSession(); err != nil {
		return nil, err
	}
	if version := q.header.Get("Mcp-Protocol-Version"); version != "" && !slices.Contains(protocolVersions, version) {
		return nil, &rpcError{rpcInvalid, "Bad Request: Unsupported protocol version: " + version +
			" (supported versions: " + strings.Join(protocolVersions, ", ") + ")"}
	}
	switch method {
	case "ping":
		return obj{}, nil
	case "tools/list", "tools/list/all":
		return obj{"tools": v.listTools()}, nil
	case "resources/list":
		return obj{"resources": v.listResources()}, nil
	case "prompts/list":
		return obj{"prompts": v.listPrompts()}, nil
	}
	run := map[string]func(*request, obj) (any, error){
		"tools/call": v.callTool, "resources/read": v.readResource, "prompts/get": v.getPrompt,
	}[method]
	if run == nil {
		return nil, &rpcError{rpcNoMethod, "Method not found: " + method}
	}
	if inner := params["params"]; inner != nil { // wins over what stands beside it
		if params = object(inner); params == nil {
			return nil, errHandler
		}
	}
	return run(q, params)
}

func (v *toolServer) initialize(q *request, params obj) obj {
	version, _ := params["protocolVersion"].(string)
	if !slices.Contains(protocolVersions, version) {
		version = protocolVersions[0]
	}
	id := q.site.newUUID()
	q.user.startToolSession(id, q.site.opt.Now())
	q.reply.Set("Mcp-Session-Id", id)
	return obj{
		"protocolVersion": version, "serverInfo": obj{"name": v.name, "version": "1.0.0"},
		"capabilities": obj{
			"tools": obj{"listChanged": false}, "prompts": obj{"listChanged": false},
			"resources": obj{"listChanged": false, "subscribe": false},
		},
	}
}

// members are the values of an object in the order that PHP keeps: a key that stands twice
// has its first place, and its last value.
func members(body []byte, object obj) []any {
	var out []any
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(body))
	for _, err := dec.Token(); err == nil && dec.More(); { // the brace that opens it
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		if name, _ := key.(string); !seen[name] {
			seen[name] = true
			out = append(out, object[name])
		}
	}
	return out
}

// messageName is a text parameter of a message as the adapter reads it: PHP's text of it, without
// the bytes that PHP trims (docs/platform IV.2, 9). No text is an error that says what is
// missing.
func messageName(params obj, key, what string) (string, error) {
	v := params[key]
	_, isObject := v.(obj)
	_, isList := v.([]any)
	name := strings.Trim(text(v), " \t\n\r\x00\x0b")
	switch {
	case isObject || isList:
		return "Array", nil
	case name == "":
		return "", &rpcError{rpcBadParams, "Missing required parameter: " + what}
	}
	return name, nil
}
