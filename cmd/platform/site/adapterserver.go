package site

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// tool is what a server offers: an ability, or a handler of the server's own.
type tool struct {
	name, title, description string
	input, annotations       obj
	run                      func(*request, obj) (any, error)
}

// tool is the ability as a server offers it: its name is the id with a dash
// (docs/platform IV.3).
func (a *ability) tool() *tool {
	return &tool{
		name: strings.ReplaceAll(a.id, "/", "-"), title: a.label, description: a.description, input: a.input,
		annotations: obj{"readOnlyHint": a.readonly, "destructiveHint": a.destructive, "idempotentHint": a.idempotent},
		run:         a.runForAgent,
	}
}

// runForAgent runs an ability as the adapter does, whatever the method of the call.
func (a *ability) runForAgent(q *request, input obj) (any, error) {
	if reason := violates(a.input, input); reason != "" {
		return nil, invalidInput(a, reason)
	}
	if !a.allow(q) {
		return nil, toolError(`Ability "` + a.id + `" does not have necessary permission.`)
	}
	return a.execute(q, input)
}

func (v *toolServer) callTool(q *request, params obj) (any, error) {
	name, err := messageName(params, "name", "tool name")
	if err != nil {
		return nil, err
	}
	arguments := object(params["arguments"])
	if arguments == nil && params["arguments"] != nil {
		return nil, &rpcError{rpcBadParams, "Invalid params: arguments must be an object"}
	}
	i := slices.IndexFunc(v.tools, func(t *tool) bool { return t.name == name })
	if i < 0 {
		return nil, &rpcError{rpcNoTool, "Tool not found: " + name}
	}
	result, err := v.tools[i].run(q, arguments)
	if err != nil {
		return obj{"content": contentOf(messageOf(err)), "isError": true}, nil
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return nil, errHandler
	}
	if _, ok := result.(obj); !ok {
		result = obj{"result": result} // clients take an object only
	}
	return obj{"content": contentOf(string(encoded)), "structuredContent": result, "isError": false}, nil
}

// toolError is an error in the adapter's words, which agents read.
type toolError string

func (e toolError) Error() string { return string(e) }

// messageOf is what agents read of an error: not the code of the platform's own.
func messageOf(err error) string {
	if e := new(Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

func contentOf(text string) []obj { return []obj{{"type": "text", "text": text}} }

func (v *toolServer) readResource(q *request, params obj) (any, error) {
	uri, err := messageName(params, "uri", "uri")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v.resources, func(a *ability) bool { return a.uri == uri })
	if i < 0 {
		return nil, &rpcError{rpcNoResource, "Resource not found: " + uri}
	}
	result, err := v.resources[i].runInPlace(q, obj{})
	if err != nil {
		return nil, err
	}
	return obj{"contents": []obj{{"uri": uri, "mimeType": "application/json", "text": result}}}, nil
}

func (v *toolServer) getPrompt(q *request, params obj) (any, error) {
	name, err := messageName(params, "name", "prompt name")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v.prompts, func(a *ability) bool { return a.tool().name == name })
	if i < 0 {
		return nil, &rpcError{rpcNoPrompt, "Prompt not found: " + name}
	}
	result, err := v.prompts[i].runInPlace(q, object(params["arguments"]))
	if err != nil {
		return nil, err
	}
	return obj{
		"description": v.prompts[i].description,
		"messages":    []obj{{"role": "user", "content": obj{"type": "text", "text": result}}},
	}, nil
}

// runInPlace runs the ability of a resource or prompt and returns its result as text. Here
// a missing permission is an error of the protocol (docs/platform IV.7, A3).
func (a *ability) runInPlace(q *request, input obj) (string, error) {
	if !a.allow(q) {
		return "", &rpcError{rpcDenied, "Permission denied: " + a.id}
	}
	result, err := a.runForAgent(q, input)
	if err != nil {
		return "", &rpcError{rpcBadParams, messageOf(err)}
	}
	if s, ok := result.(string); ok {
		return s, nil
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return "", errHandler
	}
	return string(encoded), nil
}

func (v *toolServer) listTools() []obj {
	out := []obj{}
	for _, t := range v.tools {
		out = append(out, obj{
			"name": t.name, "title": t.title, "description": t.description, "inputSchema": t.input, "annotations": t.annotations,
		})
	}
	return out
}

func (v *toolServer) listResources() []obj {
	out := []obj{}
	for _, a := range v.resources {
		out = append(out, obj{"uri": a.uri, "name": a.label, "description": a.description, "mimeType": "application/json"})
	}
	return out
}

func (v *toolServer) listPrompts() []obj {
	out := []obj{}
	for _, a := range v.prompts {
		arguments := []obj{}
		for _, name := range slices.Sorted(maps.Keys(object(a.input["properties"]))) {
			arguments = append(arguments, obj{"name": name, "required": slices.Contains(list(a.input["required"]), any(name))})
		}
		out = append(out, obj{"name": a.tool().name, "title": a.label, "description": a.description, "arguments": arguments})
	}
	return out
}
