package dryrun_test

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

const agents = `shop.example.com {
	restwarden wordpress {
		abilities {
			deny shop/refund
			allow role administrator shop/product-delete
			allow readonly shop/*
			allow tool plain-*
		}
	}
	reverse_proxy 127.0.0.1:1
}
`

const (
	defaultServer = "POST https://shop.example.com/wp-json/mcp/mcp-adapter-default-server"
	restRun       = "https://shop.example.com/wp-json/wp-abilities/v1/abilities/"
)

// runAbility runs a request about whose abilities something is said.
func runAbility(t *testing.T, c *dryrun.Config, as, line, body string, said map[string]dryrun.Ability) *dryrun.Result {
	t.Helper()
	method, address, _ := strings.Cut(line, " ")
	var sent []byte
	var header []string
	if body != "" {
		sent, header = []byte(body), []string{"Content-Type: application/json"}
	}
	r, err := dryrun.Build(method, address, header, sent)
	if err != nil {
		t.Fatal(err)
	}
	if r.As, err = dryrun.ParseAs(as); err != nil {
		t.Fatal(err)
	}
	r.Abilities = said
	result, err := c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRun_Abilities: rules for agents are tried by what is said of abilities, by every way to
// them. What nobody has said is not known.
func TestRun_Abilities(t *testing.T) {
	c := load(t, agents)
	said := map[string]dryrun.Ability{"shop/list": dryrun.Readonly, "shop/update": dryrun.Writes, "shop/product-delete": dryrun.Destructive, "shop/refund": dryrun.Readonly}
	execute := func(id string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp-adapter-execute-ability","arguments":{"ability_name":"` + id + `"}}}`
	}
	tool := func(name string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `"}}`
	}
	for name, test := range map[string]struct {
		as, line, body string
		said           map[string]dryrun.Ability
		want           dryrun.Answer
	}{
		"run, readonly":                   {"user", "GET " + restRun + "shop/list/run", "", said, dryrun.Pass},
		"run, nobody said":                {"user", "GET " + restRun + "shop/list/run", "", nil, dryrun.Unknown},
		"run, another was said":           {"user", "GET " + restRun + "shop/other/run", "", said, dryrun.Unknown},
		"run, writes":                     {"user", "POST " + restRun + "shop/update/run", "", said, dryrun.Refused},
		"run, denied":                     {"user", "GET " + restRun + "shop/refund/run", "", said, dryrun.Refused},
		"run, destructive, subscriber":    {"user", "DELETE " + restRun + "shop/product-delete/run", "", said, dryrun.Refused},
		"run, destructive, administrator": {"role:administrator", "DELETE " + restRun + "shop/product-delete/run", "", said, dryrun.Pass},
		"run, the wrong method":           {"user", "POST " + restRun + "shop/list/run", "", said, dryrun.Refused},
		"execute, readonly":               {"user", defaultServer, execute("shop/list"), said, dryrun.Pass},
		"execute, denied":                 {"user", defaultServer, execute("shop/refund"), said, dryrun.Refused},
		"execute, nobody said":            {"user", defaultServer, execute("shop/list"), nil, dryrun.Unknown},
		"tool of an ability":              {"user", defaultServer, tool("shop-list"), said, dryrun.Pass},
		"tool of one that writes":         {"user", defaultServer, tool("shop-update"), said, dryrun.Refused},
		"tool that is no ability":         {"user", defaultServer, tool("plain-search"), said, dryrun.Pass},
		"tool, nobody said":               {"user", defaultServer, tool("shop-list"), nil, dryrun.Unknown},
		"list of tools":                   {"user", defaultServer, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, said, dryrun.Pass},
		"two messages":                    {"user", defaultServer, "[" + execute("shop/list") + "]", said, dryrun.Refused},
		"a closed server":                 {"user", "POST https://shop.example.com/wp-json/wp/v2/wpmcp", tool("plain-search"), said, dryrun.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			if result := runAbility(t, c, test.as, test.line, test.body, test.said); result.Answer != test.want {
				t.Errorf("%s, want %s\n%+v\n%+v", result.Answer, test.want, result, result.Decision)
			}
		})
	}
}

// TestRun_Message: a result says how a message was read, and which rule fitted.
func TestRun_Message(t *testing.T) {
	c := load(t, agents)
	said := map[string]dryrun.Ability{"shop/list": dryrun.Readonly}
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp-adapter-execute-ability","arguments":{"ability_name":"shop/list"}}}`
	for line, door := range map[string]bool{defaultServer: true, "POST https://shop.example.com/wp-json/acme/v1/talk": false} {
		result := runAbility(t, c, "user", line, body, said)
		want := dryrun.Message{Door: door, Method: "tools/call", Tool: "mcp-adapter-execute-ability", Ability: "shop/list"}
		if m := result.Reading.Message; m == nil || *m != want {
			t.Errorf("%s: got %+v, want %+v", line, m, want)
		}
		var matched []string
		for _, p := range result.Policies {
			for _, r := range p.Rules {
				if p.Name == "abilities" && r.Matched {
					matched = append(matched, r.Rule+" "+r.At)
				}
			}
		}
		if len(matched) != 1 || !strings.HasPrefix(matched[0], "abilities allow readonly shop/* ") || !strings.HasSuffix(matched[0], ":6") {
			t.Errorf("%s: the rules that fitted: %q", line, matched)
		}
	}
	result := runAbility(t, c, "user", defaultServer, strings.Replace(body, `"params":{`, `"params":{"params":{},`, 1), said)
	if m := result.Reading.Message; m == nil || m.Ambiguous != "message_envelope" || result.Answer != dryrun.Refused {
		t.Errorf("params in params: %s, %+v", result.Answer, m)
	}
}
