package abilities

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAbilities_AgentCalls: parts of a batch are calls of their own, and two spellings of one
// input have one hash.
func TestAbilities_AgentCalls(t *testing.T) {
	const run = "/wp-abilities/v1/abilities/shop/update/run"
	message := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute-ability","arguments":{"ability_name":"shop/update","parameters":` + arguments + `}}}`
	}
	batch := `{"requests":[{"method":"POST","path":"` + run + `","body":{"input":{"a":1,"b":"<"}}},{"path":"/wp/v2/posts"},{"path":"/acme/mcp"}]}`
	for name, test := range map[string]struct {
		method, target, body string
		want                 []string // "method ability", with "#" where there are arguments
	}{
		"a run":                 {"POST", "/wp-json" + run, `{"input":{"b":"<","a":1}}`, []string{"POST shop/update #"}},
		"a run, by the query":   {"GET", "/wp-json" + run + "?input[a]=1&input[b]=<", "", []string{"GET shop/update #"}},
		"a run without input":   {"POST", "/wp-json" + run, "", []string{"POST shop/update"}},
		"a run of a made word":  {"BREW", "/wp-json" + run, "", []string{"other shop/update"}},
		"a run, two ids":        {"POST", "/wp-json" + run + "?name=shop/x", "", []string{"POST "}},
		"an odd id":             {"POST", "/wp-json/wp-abilities/v1/abilities/shop/%C3%A9/run", "", []string{"POST "}},
		"a batch":               {"POST", "/wp-json/batch/v1", batch, []string{"POST shop/update #", " "}},
		"a message":             {"POST", "/wp-json/acme/mcp", message(`{ "b":"\u003c","a":1}`), []string{"tools/call shop/update #"}},
		"a message, overridden": {"GET", "/wp-json/acme/mcp?_method=POST", message(`{}`), []string{" "}},
		"a list of messages":    {"POST", "/wp-json/acme/mcp", "[" + message(`{}`) + "]", []string{" "}},
		"a prompt":              {"POST", "/wp-json/acme/mcp", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"greet"}}`, []string{"prompts/get  prompt greet"}},
		"a method of its own":   {"POST", "/wp-json/acme/mcp", `{"jsonrpc":"2.0","id":1,"method":"acme/run"}`, []string{"acme/run "}},
		"a description":         {"GET", "/wp-json/wp-abilities/v1/abilities/shop/update", "", nil},
		"a stream":              {"GET", "/wp-json/acme/mcp", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := new(Abilities)
			policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("deny shop/*")))
			policytest.Provision(t, s, p)
			r := policytest.Request(t, s, nil, test.method, test.target, test.body, policytest.JSONType)
			r.Call.Open()
			var got []string
			for _, c := range p.AgentCalls(r) {
				text := c.Method + " " + c.Ability
				if c.Prompt != "" {
					text += " prompt " + c.Prompt
				}
				if c.Hash != "" {
					text += " #"
				}
				got = append(got, text)
				if sum := sha256.Sum256([]byte(`{"a":1,"b":"<"}`)); c.Hash != "" && c.Hash != hex.EncodeToString(sum[:]) {
					t.Errorf("the hash is %q", c.Hash)
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
