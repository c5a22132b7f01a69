package mcp_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp"
)

func TestRead_Messages(t *testing.T) {
	for body, want := range map[string]mcp.Message{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`: {ID: "0", Method: "initialize"},
		` {"jsonrpc":"2.0","id":"a-1","method":"tools/list"} `:                                                              {ID: `"a-1"`, Method: mcp.ToolsList},
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}`:                                                              {ID: "7", Method: "ping"},
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":null}`:                                                            {ID: "7", Method: "ping"},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                                            {Method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":7,"method":"tools\/c\u0061ll","params":{"n\u0061me":"lab\u002dwrite","arguments":{"id":3}}}`: {ID: "7", Method: mcp.ToolsCall, Name: "lab-write", Input: []byte(`{"id":3}`)},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":[ ],"_meta":{"progressToken":1}}}`:  {ID: "7", Method: mcp.ToolsCall, Name: "a"},
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"a","arguments":null}}`:                            {ID: "7", Method: mcp.PromptsGet, Name: "a"},
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://products?x=1"}}`:                         {ID: "7", Method: mcp.ResourcesRead, URI: "shop://products?x=1"},
		execute(`"ability_name":"shop/query","parameters":{"id":1}`):                                                        {ID: "7", Method: mcp.ToolsCall, Name: "mcp-adapter-execute-ability", Ability: "shop/query", Input: []byte(`{"id":1}`)},
		execute(`"ability_name":"shop/query","parameters":[]`):                                                              {ID: "7", Method: mcp.ToolsCall, Name: "mcp-adapter-execute-ability", Ability: "shop/query"},
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                                                              {ID: "7"}, // the answer to a request of the server
	} {
		m, err := mcp.Read([]byte(body), http.Header{})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if m.ID != want.ID || m.Method != want.Method || m.Name != want.Name || m.URI != want.URI || m.Ability != want.Ability || string(m.Input) != string(want.Input) {
			t.Errorf("%s: got %+v", body, m)
		}
		if id := mcp.ID([]byte(body)); want.ID != "" && id != want.ID || want.ID == "" && id != "null" {
			t.Errorf("%s: the id is %s", body, id)
		}
	}
}

func execute(arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp-adapter-execute-ability","arguments":{` + arguments + `}}}`
}

func tool(params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + params + `}}`
}

func TestRead_Refusals(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for body, reason := range map[string]string{
		``:       "message",
		`5`:      "message",
		`{`:      "message",
		`{} {}`:  "message",
		"\ufeff": "message",
		`{"jsonrpc":"2.0","id":7,"method":"ping",}`:                     "message",
		tool(`"name":"a","name":"b"`):                                   "message",
		tool(`"name":"a","arguments":{"x":{"y":1,"\u0079":2}}`):         "message",
		tool(`"name":"a","arguments":{"x":"\ud800"}`):                   "message",
		tool(`"name":"a","arguments":{"x":` + deep + `}`):               "message",
		"[" + tool(`"name":"a"`) + "]":                                  "message_list",
		`{"0":` + tool(`"name":"a"`) + `}`:                              "message_list",
		`{"jsonrpc":"2.0","id":1,"method":"ping","-3":1}`:               "message_list",
		`{"id":7,"method":"ping"}`:                                      "message_envelope",
		`{"jsonrpc":2.0,"id":7,"method":"ping"}`:                        "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":["ping"]}`:                    "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call "}`:               "message_envelope",
		`{"jsonrpc":"2.0","id":7,"result":{},"params":{}}`:              "message_envelope",
		`{"jsonrpc":"2.0","id":7.0,"method":"ping"}`:                    "message_envelope",
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                   "message_envelope",
		`{"jsonrpc":"2.0","id":99999999999999999,"method":"ping"}`:      "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":"ping","name":"x"}`:           "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}`:         "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}`:         "message_envelope",
		tool(`"name":"a","params":null`):                                "message_envelope",
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`: "message_envelope",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                "message_name",
		tool(`"name":""`):                                       "message_name",
		tool(`"name":5`):                                        "message_name",
		tool(`"name":"a "`):                                     "message_name",
		tool(`"name":"a\u0000"`):                                "message_name",
		tool(`"name":"shop/update"`):                            "message_name",
		tool(`"name":"` + strings.Repeat("a", 129) + `"`):       "message_name",
		tool(`"name":"a","arguments":[1]`):                      "message_arguments",
		tool(`"name":"a","arguments":[[]]`):                     "message_arguments",
		tool(`"name":"a","arguments":"x"`):                      "message_arguments",
		tool(`"name":"a","arguments":0`):                        "message_arguments",
		execute(`"ability_name":" shop/query"`):                 "message_name",
		execute(`"ability_name":"shop-query"`):                  "message_name",
		execute(`"ability_name":"Shop/query"`):                  "message_name",
		execute(`"ability_name":"mcp-adapter/execute-ability"`): "message_name",
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"mcp-adapter-execute-ability","arguments":{"ability_name":"a/b"}}}`: "message_name",
		execute(`"parameters":{}`):                                                        "message_name",
		execute(`"ability_name":"shop/query","parameters":[1]`):                           "message_arguments",
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":" shop://a"}}`: "message_name",
	} {
		_, err := mcp.Read([]byte(body), http.Header{})
		var refusal *call.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != reason || refusal.Status != 400 {
			t.Errorf("%s: got %v, want %s", body, err, reason)
		}
	}
}

// TestRead_Headers: headers that repeat the body must say the same.
func TestRead_Headers(t *testing.T) {
	for _, test := range []struct {
		body, method, name string
		ok                 bool
	}{
		{tool(`"name":"a"`), "tools/call", "a", true},
		{tool(`"name":"a"`), "tools/call", "b", false},
		{tool(`"name":"a"`), "tools/list", "a", false},
		{tool(`"name":"a"`), "TOOLS/CALL", "a", false},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}`, "resources/read", "a://b", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list", "", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list", "a", false},
	} {
		h := http.Header{"Mcp-Method": {test.method}, "Mcp-Name": {test.name}}
		if _, err := mcp.Read([]byte(test.body), h); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestMayExecute(t *testing.T) {
	call := tool(`"name":"a"`)
	for body, want := range map[string]bool{
		call:                                           true,
		" \n" + call:                                   true,
		"[" + call + "]":                               true,
		"[5," + call + "]":                             true,
		`{"0":` + call + `,"method":"x"}`:              true,
		`{"0":[],"x":` + call + `}`:                    true,
		`{"x":` + call + `,"0":5}`:                     true,
		`{"x":` + call + `,"00":5}`:                    true, // PHP takes it for a text, which costs nothing
		`{"m\u0065thod":"tools\/call"}`:                true,
		`{"method":"prompts/get","x":1}`:               true,
		`{"method":"tools/call","method":1}`:           true, // nobody says which one counts
		`{"method":"tools/call"`:                       true, // it breaks off
		"{\"\x8c\":0,\"method\":\"tools/c\\u0061ll\"}": true, // no UTF-8
		`{"title":"tools/call"}`:                       false,
		`{"x":{"method":"tools/call"}}`:                false,
		`{"method":"tools/list"}`:                      false,
		`{"method":["tools/call"]}`:                    false,
		`{"content":"a \\ b"}`:                         false,
		`"tools/call"`:                                 false,
		`tools/call`:                                   false,
		``:                                             false,
	} {
		if got := mcp.MayExecute([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestRead_Slices: arguments are slices of the body, at every depth: nothing is held that the
// body's memory does not count.
func TestRead_Slices(t *testing.T) {
	body := []byte(execute(`"ability_name":"shop/query","parameters":{"note":"xyz"}`))
	m, err := mcp.Read(body, http.Header{})
	if err != nil {
		t.Fatal(err)
	}
	copy(body[bytes.Index(body, []byte("xyz")):], "abc")
	for _, text := range []string{string(m.Input), string(m.Arguments)} {
		if !strings.Contains(text, `"note":"abc"`) {
			t.Errorf("%s is a copy", text)
		}
	}
}

// TestReadEvents: the answer is the one with the id of the message, behind those to others.
func TestReadEvents(t *testing.T) {
	const other, own = `data: {"id":2,"error":{"code":-1,"message":"x"}}` + "\n\n", `data: {"id":1,"result":{}}` + "\n\n"
	for _, stream := range []string{other + own, own + other} {
		if a, err := mcp.ReadEvents([]byte(stream), "1"); err != nil || a.Result == nil {
			t.Errorf("%s: %+v, %v", stream, a, err)
		}
	}
	if a, err := mcp.ReadEvents([]byte(other), "1"); err == nil {
		t.Errorf("another answer alone: %+v", a)
	}
}
