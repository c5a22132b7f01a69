//go:build agents

package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// sessionLimit bounds one client, from its start to its end.
const sessionLimit = time.Minute

// kind is one of the two clients.
type kind struct {
	name string
	// server tells the driver how to reach a server of tools with these headers.
	server func(door string, headers map[string]string) any
	// refusal is the code that the client reports for a refusal with this status.
	refusal map[int]int
	// session, ping and close are the requests for these, with the status of the answer.
	session, ping, close map[string]int
	// late is what the client says at the first call to a server that refused it; it has
	// connected none the less. Empty for a client that does not connect. turnedAway are its
	// requests.
	late       string
	turnedAway map[string]int
}

// kinds are both.
var kinds = []kind{
	{ // reports the status itself, with the answer as text
		name: "sdk",
		server: func(door string, headers map[string]string) any {
			return map[string]any{"url": door, "headers": headers}
		},
		refusal:    map[int]int{400: 400, 403: 403, 429: 429, 503: 503},
		session:    map[string]int{"initialize 200": 1, "notifications/initialized 202": 1, "GET 405": 1},
		ping:       map[string]int{"ping 200": 1},
		close:      map[string]int{"DELETE 200": 1},
		turnedAway: map[string]int{"initialize 403": 1},
	},
	{ // makes a code of JSON-RPC of the status, whatever the answer's own code is
		name:       "proxy",
		server:     proxy,
		refusal:    map[int]int{400: -32600, 403: -32008, 429: -32603, 503: -32000},
		session:    map[string]int{"initialize 200": 1},
		late:       "WordPress connection failed during initialization",
		turnedAway: map[string]int{"initialize 403": 2}, // once more in the words of another server
	},
}

// proxy is the proxy with an application password, or with headers of its own where there is
// none: without any credentials it sends nothing.
func proxy(door string, headers map[string]string) any {
	env := map[string]string{"WP_API_URL": door, "OAUTH_ENABLED": "false", "USE_SYSTEM_PROXY": "false"}
	r := http.Request{Header: http.Header{"Authorization": {headers["Authorization"]}}}
	if user, password, ok := r.BasicAuth(); ok {
		env["WP_API_USERNAME"], env["WP_API_PASSWORD"] = user, password
	} else {
		env["CUSTOM_HEADERS"] = "X-Client:check"
	}
	return map[string]any{"command": []string{"node", "node_modules/@automattic/mcp-wordpress-remote/dist/proxy.js"}, "env": env}
}

// outcome is what a client made of one step: a result, or an error.
type outcome struct {
	Result json.RawMessage `json:"result"`
	Error  *reported       `json:"error"`
}

// reported is an error as the client reports it.
type reported struct {
	Name    string `json:"name"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// agent is a running client.
type agent struct {
	t      *testing.T
	kind   kind
	steps  *json.Encoder
	lines  *json.Decoder
	stderr *bytes.Buffer
}

// start starts a client of the door, which ends with the test. It is not connected.
func (k kind) start(t *testing.T, door string, headers map[string]string) *agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), sessionLimit)
	cmd, err := machine.Command(ctx, clients.Dir(t), "node", "drive.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir()) // where the proxy keeps its settings
	a := &agent{t: t, kind: k, stderr: new(bytes.Buffer)}
	cmd.Stderr = a.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer cancel()
		_ = stdin.Close() // it ends then
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", k.name, err, a.stderr)
		}
	})
	a.steps, a.lines = json.NewEncoder(stdin), json.NewDecoder(stdout)
	if err := a.steps.Encode(k.server(door, headers)); err != nil {
		t.Fatal(err)
	}
	return a
}

// do takes one step and returns what came of it.
func (a *agent) do(step string, with any) (got outcome) {
	a.t.Helper()
	err := a.steps.Encode(map[string]any{"do": step, "with": with})
	if err == nil {
		err = a.lines.Decode(&got)
	}
	if err != nil {
		a.t.Fatalf("%s: %s: %v\n%s", a.kind.name, step, err, a.stderr)
	}
	return got
}

// arguments are those of a tool.
type arguments map[string]any

// call calls a tool.
func (a *agent) call(tool string, with arguments) outcome {
	a.t.Helper()
	return a.do("callTool", map[string]any{"name": tool, "arguments": with})
}

// works takes a step that must succeed, and returns its result.
func (a *agent) works(step string, with any) json.RawMessage {
	a.t.Helper()
	got := a.do(step, with)
	if got.Error != nil {
		a.t.Fatalf("%s: %s: %+v", a.kind.name, step, *got.Error)
	}
	return got.Result
}

// runs calls a tool, which must answer with text that has all of these words.
func (a *agent) runs(tool string, with arguments, words ...string) {
	a.t.Helper()
	text, isError := a.call(tool, with).text(a.t)
	if isError {
		a.t.Errorf("%s: %s: an error: %s", a.kind.name, tool, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			a.t.Errorf("%s: %s: no %q in %s", a.kind.name, tool, word, text)
		}
	}
}

// rpcCodes are the codes of refusals, by status.
var rpcCodes = map[int]int{400: -32600, 403: -32008, 429: -32000, 503: -32603}

// refused holds that the client reports a refusal with this status and the platform's code.
// Its message ends with the answer, which is an error of JSON-RPC and nothing else.
func (a *agent) refused(got outcome, status int, code string) {
	a.t.Helper()
	if got.Error == nil {
		a.t.Errorf("%s: no error but %s, want a refusal with %d", a.kind.name, got.Result, status)
		return
	}
	_, text, _ := strings.Cut(got.Error.Message, "{")
	var answer struct {
		JSONRPC string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    struct {
				Code   string `json:"code"`
				Status int    `json:"status"`
			} `json:"data"`
		} `json:"error"`
	}
	read := json.NewDecoder(strings.NewReader("{" + text))
	read.DisallowUnknownFields()
	if err := read.Decode(&answer); err != nil || answer.JSONRPC != "2.0" || answer.ID == nil {
		a.t.Errorf("%s: no error of JSON-RPC with an id: %v: %s", a.kind.name, err, got.Error.Message)
		return
	}
	e := answer.Error
	if got.Error.Code != a.kind.refusal[status] || e.Code != rpcCodes[status] || e.Data.Status != status || e.Data.Code != code || e.Message == "" {
		a.t.Errorf("%s: code %d, want %d; the answer is to have %d, %d %s: %s", a.kind.name,
			got.Error.Code, a.kind.refusal[status], rpcCodes[status], status, code, got.Error.Message)
	}
}

// text is the text of a tool's result, and whether the result is an error for the model.
func (o outcome) text(t *testing.T) (text string, isError bool) {
	t.Helper()
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if o.Error != nil {
		t.Fatalf("no result: %+v", *o.Error)
	}
	if err := json.Unmarshal(o.Result, &result); err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Content {
		text += c.Text
	}
	return text, result.IsError
}

// tools are the names of the tools that the server lists.
func (a *agent) tools() (names []string) {
	a.t.Helper()
	var result struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(a.works("listTools", nil), &result); err != nil {
		a.t.Fatal(err)
	}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names
}
