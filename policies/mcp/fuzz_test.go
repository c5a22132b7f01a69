package mcp_test

import (
	"bytes"
	"crypto/md5" //nolint:gosec // see adaptersName
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policytest"
)

// bodies are those of the recorded messages, without heads.
func bodies(tb testing.TB) (list [][]byte) {
	tb.Helper()
	for _, r := range policytest.Recordings(tb) {
		if _, body, ok := bytes.Cut(r.Request, []byte("\r\n\r\n")); ok && len(body) > 0 {
			list = append(list, body)
		}
	}
	if len(list) < 500 {
		tb.Fatalf("%d bodies", len(list))
	}
	return list
}

// FuzzMayOffer: the name that adapters make of an id over 128 characters is never free of a
// pattern that the id fits.
func FuzzMayOffer(f *testing.F) {
	long := strings.Repeat("y", 130)
	for _, seed := range [][3]string{{"gone/", "", long}, {"gone/a", strings.Repeat("-", 130), "b"}, {"-a/", "--b", long + "--"}, {"", "/" + long, ""}, {"a/b--", long, "-c"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, begin, some, end string) {
		id := begin + some + end
		if strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-/") != "" || len(id) <= 128 {
			return
		}
		name := adaptersName(id)
		for _, pattern := range []string{id, begin + "*" + end, "*" + end, begin + "*", "*" + some + "*", begin + "*" + some + "*" + end} {
			if !mcp.MayOffer(pattern, name) {
				t.Errorf("%s is free of %s, which fits %s", name, pattern, id)
			}
		}
		if mcp.MayOffer(id+"x", name) {
			t.Errorf("%s may be of %sx", name, id)
		}
	})
}

// adaptersName is what the adapter makes of an id over 128 characters, step by step.
func adaptersName(id string) string {
	name := strings.ReplaceAll(id, "/", "-")
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	name = strings.Trim(name, "-_")
	if len(name) > 128 {
		name = name[:115] + fmt.Sprintf("-%x", md5.Sum([]byte(id)))[:13] //nolint:gosec // the adapter's own choice
	}
	return name
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
		if same, err := mcp.ReadCall(body, http.Header{}); err != nil || !reflect.DeepEqual(same, m) {
			t.Errorf("%q: %+v, but as a call %+v, %v", body, m, same, err)
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

// FuzzReadEvents: whatever a stream says, only an answer with that very id counts, and it is
// the one that the stream has on its own.
func FuzzReadEvents(f *testing.F) {
	f.Add([]byte("data: {\"id\":7,\"error\":{\"code\":-1,\"message\":\"x\"}}\n\n"), "7")
	f.Add([]byte("event: m\r\ndata: {\"method\":\"x\"}\r\n\r\ndata:{\"id\":\"a\",\r\ndata:\"result\":{\"isError\":true}}\r\n\r\n"), `"a"`)
	f.Add([]byte("data: {\"id\":8,\"result\":{}}\r\rdata: {\"id\":7,"), "7")
	f.Fuzz(func(t *testing.T, begin []byte, id string) {
		a, err := mcp.ReadEvents(begin, id)
		if err == nil && ((a.Result == nil) == (a.Error == nil) || !bytes.Contains(begin, []byte(id)) || !bytes.Contains(begin, []byte("data:"))) {
			t.Errorf("%+v", a)
		}
		if text := []byte(`{"id":` + id + `,"error":{"code":-32005,"message":"m"}}`); json.Valid(text) && !bytes.ContainsAny(text, "\r\n") && mcp.ID(text) == id {
			if a, err := mcp.ReadEvents(slices.Concat([]byte("data: "), text, []byte("\n\n"), begin), id); err != nil || a.Error == nil || a.Error.Code != -32005 {
				t.Errorf("%+v, %v", a, err)
			}
		}
	})
}
