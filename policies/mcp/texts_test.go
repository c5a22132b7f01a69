package mcp

import (
	"net/http"
	"strings"
	"testing"
)

func TestMentions(t *testing.T) {
	for body, want := range map[string]bool{
		`{"a":{"b":[1,{"c":"x word y"}]}}`: true,
		`{"word":1}`:                       true,
		`{"a":"w\u006frd"}`:                true,
		`{"a":"word","a":"b"}`:             true,
		`[["word"]]`:                       true,
		`{} "word"`:                        true,
		`{"a":"wo","b":"rd"}`:              false,
		``:                                 false,
		`{"a":`:                            false,
		`{"a":"w\u006frd"`:                 true,
		`{"a":"b","word`:                   true,
		`a=word`:                           true,
		`a=w\u006frd`:                      false,
	} {
		if got := Mentions([]byte(body), func(text string) bool { return strings.Contains(text, "word") }); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

func TestMentions_Cut(t *testing.T) {
	name := strings.Repeat("a", 115) + "-0123456789ab"
	for body, want := range map[string]bool{
		`{"params":{"name":"` + name + `"}}`:                               true,
		`{"params":{"name":"` + name[:115] + `\u002d` + name[116:] + `"}}`: true,
		`{"params":{"name":" ` + name + `\n"}}`:                            true,
		`{"params":{"name":"x` + name + `"}}`:                              false,
		`{"params":{"name":"a-0123456789ab"}}`:                             false,
		`{"params":{"name":"a"}}`:                                          false,
		`{"a":"` + name:                                                    true,
		`{"params":{"name":"a-0-0123456789a` + name + `"}}`:                false,
		`{"a":"-0-0123456789a","params":{"name":"` + name + `"}}`:          true,
	} {
		if got := Mentions([]byte(body), func(string) bool { return false }); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

// TestReadCall_OldClients: messages of old clients are read as what servers run of them, and
// Read refuses them.
func TestReadCall_OldClients(t *testing.T) {
	for body, want := range map[string]string{
		`{"method":"tools/call","params":{"name":"a","arguments":{"b":1}}}`:                               `a {"b":1}`,
		`{"method":"tools/call","name":"a","arguments":{"b":1}}`:                                          `a {"b":1}`,
		`{"method":"tools/call","name":"a"}`:                                                              `a `,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`:                                   `a `,
		`{"jsonrpc":"1.0","method":"tools/call","params":{"name":"a"}}`:                                   "",
		`{"method":"tools/call","name":"a","params":{"name":"b"}}`:                                        "",
		`{"method":"tools/call","name":"a","params":null}`:                                                "",
		`{"method":"tools/call","params":{"name":"a","params":{"name":"b"}}}`:                             "",
		`{"method":"tools/call","name":5,"arguments":{}}`:                                                 "",
		`{"method":"tools/call","name":"a","arguments":"x"}`:                                              "",
		`{"method":"tools/call","name":"a","arguments":{"b":1,"b":2}}`:                                    "",
		`{"0":{"method":"tools/call","params":{"name":"a"}},"method":"tools/call","params":{"name":"b"}}`: "",
	} {
		got := ""
		if m, err := ReadCall([]byte(body), http.Header{}); err == nil {
			got = m.Name + " " + string(m.Input)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
		if _, err := Read([]byte(body), http.Header{}); err == nil {
			t.Errorf("%s: Read takes it", body)
		}
	}
}
