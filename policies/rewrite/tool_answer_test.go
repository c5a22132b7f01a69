package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestToolAnswer: fields are hidden in structured content and in its copies as text, wherever
// servers of tools put what an ability returns.
func TestToolAnswer(t *testing.T) {
	paths := [][]string{{"email"}, {"billing", "email"}}
	const head = `{"jsonrpc":"2.0","id":7,`
	for in, want := range map[string]string{
		`"result":{"structuredContent":{"email":"S","id":1.50},"content":[{"type":"text","text":"{\"email\":\"S\",\"id\":1.50}"}],"isError":false}`: `"result":{"structuredContent":{"email":"[redacted]","id":1.50},"content":[{"type":"text","text":"{\"email\":\"[redacted]\",\"id\":1.50}"}],"isError":false}`,
		`"result":{"structuredContent":{"success":true,"data":[{"billing":{"email":"S"}}]},"content":[]}`:                                           `"result":{"structuredContent":{"success":true,"data":[{"billing":{"email":"[redacted]"}}]},"content":[]}`,
		`"result":{"structuredContent":{"0":{"email":"S"},"1":{"email":"S"},"_metadata":{}}}`:                                                       `"result":{"structuredContent":{"0":{"email":"[redacted]"},"1":{"email":"[redacted]"},"_metadata":{}}}`,
		`"result":{"structuredContent":{"result":[{"email":"S"}]}}`:                                                                                 `"result":{"structuredContent":{"result":[{"email":"[redacted]"}]}}`,
		`"result":{"contents":[{"uri":"a://b","text":"[{\"\\u0065mail\":\"S\"}]"}]}`:                                                                `"result":{"contents":[{"uri":"a://b","text":"[{\"email\":\"[redacted]\"}]"}]}`,
		`"result":{"messages":[{"role":"user","content":{"type":"text","text":"{\"email\":\"S\"}"}}]}`:                                              `"result":{"messages":[{"role":"user","content":{"type":"text","text":"{\"email\":\"[redacted]\"}"}}]}`,
		`"result":{"content":[{"type":"resource","resource":{"uri":"a://b","text":"{\"email\":\"S\"}"}}]}`:                                          `"result":{"content":[{"type":"resource","resource":{"uri":"a://b","text":"{\"email\":\"[redacted]\"}"}}]}`,
		`"result":{"email":"S","toolResult":{"email":"S"}}`:                                                                                         `"result":{"email":"[redacted]","toolResult":{"email":"[redacted]"}}`,
		`"result":{"isError":true,"content":[{"type":"text","text":"No such order."}]}`:                                                             `"result":{"isError":true,"content":[{"type":"text","text":"No such order."}]}`,
		`"result":{"isError":true,"content":[{"type":"text","text":"{\"email\":\"S\"}"}]}`:                                                          `"result":{"isError":true,"content":[{"type":"text","text":"{\"email\":\"[redacted]\"}"}]}`,
		`"error":{"code":-32603,"message":"no","data":{"email":"S"}}`:                                                                               `"error":{"code":-32603,"message":"no","data":{"email":"[redacted]"}}`,
		`"result":{"content":[{"type":"text","text":"5"},{"type":"text","text":""}]}`:                                                               `"result":{"content":[{"type":"text","text":"5"},{"type":"text","text":""}]}`,
	} {
		got, err := ToolAnswer([]byte(head+in+"}"), paths)
		if err != nil || string(got) != head+want+"}" {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		``, `[]`, `{"jsonrpc":"2.0","id":7}`, `{"body":{"result":{}}}`, `{"result":[]}`, `{"result":{}}{"result":{}}`, `data: {"result":{}}`,
		`{"result":{"content":[{"type":"text","text":"The address is a@example.com."}]}}`,
		`{"result":{"content":[{"type":"text","text":"{\"email\":\"S\"} and more"}]}}`,
		`{"result":{"content":[{"type":"text","text":["S"]}]}}`,
		`{"result":{"content":{"type":"text","text":"{}"}}}`,
		`{"result":{"content":[{"type":"image","data":"aaaa"}]}}`,
		`{"result":{"contents":[{"uri":"a://b","blob":"aaaa"}]}}`,
	} {
		if got, err := ToolAnswer([]byte(in), paths); err == nil {
			t.Errorf("%s: got %s without an error", in, got)
		}
	}
}

// FuzzToolAnswer: what is let out is JSON, says the same when it is redacted again, and has no
// value left in a field that is hidden.
func FuzzToolAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"result":{"structuredContent":{"email":"S"},"content":[{"type":"text","text":"{\"email\":\"S\"}"}]}}`,
		`{"result":{"isError":true,"content":[{"text":"no"}]}}`, `{"result":{"sTructuredContent":{"email":""}}}`, `{"error":{"data":{"email":"S"}}}`, `{"result":{"contents":[{"text":"[1,{\"email\":{}}]"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	paths := [][]string{{"email"}}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := ToolAnswer(in, paths)
		if err != nil {
			return
		}
		again, err := ToolAnswer(out, paths)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent: %s, %s, %v", out, again, err)
		}
		var answer struct {
			Result struct {
				StructuredContent map[string]any `json:"structuredContent"`
				IsError           bool           `json:"isError"`
				Content           []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"result"`
		}
		// Names are read as they stand; encoding/json would take another case for the same name.
		if jsonv2.Unmarshal(out, &answer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			return
		}
		if v, set := answer.Result.StructuredContent["email"]; set && v != "[redacted]" {
			t.Errorf("%s became %s", in, out)
		}
		for _, part := range answer.Result.Content {
			var object map[string]any
			if json.Unmarshal([]byte(part.Text), &object) == nil && object["email"] != nil && object["email"] != "[redacted]" || !answer.Result.IsError && strings.HasPrefix(part.Text, "The ") {
				t.Errorf("%s became %s", in, out)
			}
		}
	})
}
