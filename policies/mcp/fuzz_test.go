package mcp_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/mcp"
)

// bodies are those of the recorded messages, without heads.
func bodies(tb testing.TB) (list [][]byte) {
	tb.Helper()
	f, err := os.Open("testdata/recorded.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct{ Request []byte }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		if _, body, ok := bytes.Cut(r.Request, []byte("\r\n\r\n")); ok && len(body) > 0 {
			list = append(list, body)
		}
	}
	if lines.Err() != nil || len(list) < 500 {
		tb.Fatalf("%d bodies, %v", len(list), lines.Err())
	}
	return list
}

// FuzzRead: what Read returns is what a decoder with other rules reads too (of equal keys
// the last, unknown members ignored), nothing in it has a second meaning, and a message that
// runs something is seen on any route.
func FuzzRead(f *testing.F) {
	for _, body := range bodies(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := mcp.Read(body, http.Header{})
		var plain struct {
			Method string
			Params json.RawMessage
		}
		lax := json.Unmarshal(body, &plain)
		if lax == nil && exact(body, "method") && slices.Contains(mcp.Executing, plain.Method) && !mcp.MayExecute(body) {
			t.Errorf("%q would run and is not seen", body)
		}
		if err != nil {
			return
		}
		if lax != nil || exact(body, "method") != (m.Method != "") || plain.Method != m.Method {
			t.Fatalf("%q: %q, %v, but read as %+v", body, plain.Method, lax, m)
		}
		if m.Executes() != mcp.MayExecute(body) {
			t.Errorf("%q: executes %v", body, m.Executes())
		}
		if !m.Executes() {
			return
		}
		var params map[string]any
		if err := json.Unmarshal(plain.Params, &params); err != nil || params["params"] != nil {
			t.Fatalf("%q: params %v, %v", body, params, err)
		}
		name, _ := params["name"].(string)
		uri, _ := params["uri"].(string)
		if m.Name != "" && m.Name != name || m.URI != "" && m.URI != uri || m.Name == "" && m.URI == "" {
			t.Errorf("%q: read as %+v", body, m)
		}
		if strings.TrimSpace(m.Name) != m.Name || strings.ContainsAny(m.Name+m.URI+m.Ability, " \x00\t\r\n\v") {
			t.Errorf("%q: read as %+v", body, m)
		}
		if m.ID == "" || m.ID == "null" || m.ID != mcp.ID(body) {
			t.Errorf("%q: its id is %q, the answer's %q", body, m.ID, mcp.ID(body))
		}
	})
}

// exact tells whether the outermost object has a key with exactly these letters:
// encoding/json takes others for it, too.
func exact(body []byte, key string) bool {
	var members map[string]json.RawMessage
	_, ok := members[key]
	if json.Unmarshal(body, &members) == nil {
		_, ok = members[key]
	}
	return ok
}
