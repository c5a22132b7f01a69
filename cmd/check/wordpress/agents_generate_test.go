//go:build wordpress

package wordpress

import (
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// Servers of agents, as the stand-in has them. To the handed-on routes the default server
// answers, by a call inside.
var (
	customServers = []string{"/lab-agent/v1/mcp", "/lab-team/team/red/mcp", "/lab-plain/v1/assistant"}
	handedOn      = []string{"/mcp/mcp-adapter-default-server", "/lp/v1/mcp", "/lab-alias/v1/mcp", "/lab-alias/v1/agent"}
	otherServers  = []string{"/wp/v2/wpmcp", "/wp/v2/wpmcp/streamable", "/mcp/v1/http", "/mcp/v1/" + engineToken, "/royal-mcp/v1/mcp", "/royal-mcp/v1", "/royal-mcp/v1/messages"}
)

// Credentials of servers that have their own.
const (
	engineToken = "labtoken1234567890abcdef"
	royalKey    = "lab-royal-key-0123456789"
)

// agentMessage is a generated request to a server of agents, or to the abilities' own route.
type agentMessage struct {
	*message

	plain bool   // as a real client sends it
	runs  string // what a plain one runs: an ability by its id, "(tool …)", or nothing
}

// agentGenerator makes such requests. A third is plain; the others differ from that in a few
// places, each of which some server reads in a way of its own.
type agentGenerator struct {
	*generator

	session func(role string) string
}

func newAgentGenerator(c grammar.Choices, s *site, session func(role string) string) *agentGenerator {
	return &agentGenerator{newGenerator(c, s), session}
}

// agentDraft is a request while it is put together.
type agentDraft struct {
	verb    string
	route   string
	path    string
	query   []string
	top     *written
	params  *written
	input   *written // arguments of a tool, or parameters of the ability
	before  string   // what stands around the object
	after   string
	ctype   string
	headers []string
	as      string
	runs    string
}

func (g *agentGenerator) next() *agentMessage {
	d := &agentDraft{verb: "POST", ctype: "application/json", as: "administrator"}
	switch g.rare(5) {
	case 0:
		d.as = "subscriber"
	case 1:
		d.as = pick(g.generator, "administrator", "administrator", "")
	}
	g.subject(d)
	d.path = "/wp-json" + d.route
	plain := d.as != "" && g.IntN(3) == 0
	if plain {
		g.manners(d)
	} else {
		for range 1 + g.IntN(3) {
			g.bend(d)
		}
	}
	return &agentMessage{d.message(g), plain, d.runs}
}

// message renders the draft.
func (d *agentDraft) message(g *agentGenerator) *message {
	m := &message{method: d.verb, target: d.path, as: d.as}
	if d.top != nil {
		m.body = d.before + d.top.text() + d.after
	}
	if len(d.query) > 0 {
		m.target += "?" + strings.Join(d.query, "&")
	}
	m.headers = append(m.headers, "Accept: application/json, text/event-stream")
	if d.ctype != "" && d.top != nil {
		m.headers = append(m.headers, "Content-Type: "+d.ctype)
	}
	if id := g.session(d.as); id != "" && d.top != nil {
		m.headers = append(m.headers, "Mcp-Session-Id: "+id)
	}
	m.headers = append(m.headers, d.headers...)
	return m
}

// envelope begins a message of JSON-RPC.
func (d *agentDraft) envelope(method string) {
	d.top, d.params = new(written), new(written)
	d.top.add("jsonrpc", `"2.0"`)
	d.top.add("id", "7")
	d.top.add("method", quoted(method))
	d.top.nest("params", d.params)
}

func (g *agentGenerator) ability() string {
	return pick(g.generator, "lab/read-item", "lab/write-item", "lab/write-item", "lab/write-item", "lab/delete-item", "lab/strict",
		"lab/no-input", "lab/hidden", "lab/secret", "lab/admin-only", "lab/a-b", "lab-a/b")
}

// subject draws what is called, and where.
func (g *agentGenerator) subject(d *agentDraft) {
	switch g.IntN(12) {
	case 0, 1, 2, 3:
		g.tool(d)
	case 4, 5, 6, 7:
		g.execute(d)
	case 8:
		g.otherMethod(d)
	case 9:
		g.restRun(d)
	case 10:
		g.otherServer(d)
	default:
		g.listing(d)
	}
}

// tool calls an ability by the name of its tool.
func (g *agentGenerator) tool(d *agentDraft) {
	d.route, d.runs = pick(g.generator, customServers...), g.ability()
	if g.oneIn(8) {
		d.runs = "(tool plain_tool)"
	}
	d.envelope("tools/call")
	name := strings.TrimSuffix(strings.TrimPrefix(dashed(d.runs), "(tool "), ")")
	d.params.add("name", quoted(name))
	d.input = inputOf(d.runs)
	d.params.nest("arguments", d.input)
	if name == "lab-a-b" { // it may be either
		d.runs = ""
	}
}

// inputOf returns input that an ability takes.
func inputOf(id string) *written {
	input := new(written)
	if id != "lab/no-input" {
		input.add("id", "5")
	}
	return input
}

// execute runs an ability by its id through the default server's tool.
func (g *agentGenerator) execute(d *agentDraft) {
	d.route, d.runs = pick(g.generator, append(handedOn, customServers...)...), g.ability()
	d.envelope("tools/call")
	d.params.add("name", `"mcp-adapter-execute-ability"`)
	arguments := new(written)
	arguments.add("ability_name", quoted(d.runs))
	d.input = inputOf(d.runs)
	arguments.nest("parameters", d.input)
	d.params.nest("arguments", arguments)
	if d.runs == "lab/hidden" { // only custom servers offer it
		d.runs = ""
	}
}

func (g *agentGenerator) otherMethod(d *agentDraft) {
	d.route = pick(g.generator, customServers...)
	if g.IntN(2) == 0 {
		d.runs = "lab/doc"
		d.envelope("resources/read")
		d.params.add("uri", `"lab://doc"`)
		return
	}
	d.runs = "lab/ask"
	d.envelope("prompts/get")
	d.params.add("name", `"lab-ask"`)
	d.input = new(written)
	d.input.add("topic", `"t"`)
	d.params.nest("arguments", d.input)
}

// restRun runs an ability over REST.
func (g *agentGenerator) restRun(d *agentDraft) {
	d.runs = g.ability()
	d.route = "/wp-abilities/v1/abilities/" + d.runs + "/run"
	switch d.runs {
	case "lab/read-item":
		d.verb, d.query = "GET", []string{"input[id]=5"}
	case "lab/no-input":
		d.verb = "GET"
	case "lab/delete-item":
		d.verb, d.query = "DELETE", []string{"input[id]=5"}
	default:
		d.top, d.params, d.input = new(written), new(written), inputOf(d.runs)
		d.top.nest("input", d.input)
	}
}

// otherServer calls a tool of a server of another plugin, some of which run REST inside.
func (g *agentGenerator) otherServer(d *agentDraft) {
	d.route = pick(g.generator, otherServers...)
	d.envelope("tools/call")
	d.input = new(written)
	name := "lab_tool"
	switch {
	case strings.HasPrefix(d.route, "/royal"):
		name, d.as, d.headers = "wp_create_post", "", []string{"X-Royal-MCP-API-Key: " + royalKey}
		d.input.add("title", `"t"`)
	case strings.HasPrefix(d.route, "/wp/v2") && g.oneIn(2):
		name = "run_api_function"
		g.inner(d.input)
	case strings.HasPrefix(d.route, "/mcp/v1") && g.oneIn(3):
		name = pick(g.generator, "list_posts", "create_posts")
	}
	d.runs = "(tool " + name + ")"
	d.params.add("name", quoted(name))
	d.params.nest("arguments", d.input)
}

// inner draws a REST call that a tool makes inside.
func (g *agentGenerator) inner(input *written) {
	switch g.IntN(3) {
	case 0:
		input.add("route", quoted(fmt.Sprintf("/wc/v3/orders/%d", pick(g.generator, g.subs...))))
		input.add("method", pick(g.generator, `"PUT"`, `"POST"`, `"PATCH"`))
		input.add("data", `{"customer_note":"a"}`)
	case 1:
		input.add("route", quoted("/wp-abilities/v1/abilities/lab/write-item/run"))
		input.add("method", `"POST"`)
		input.add("data", `{"input":{"id":5}}`)
	default:
		input.add("route", `"/wp/v2/users"`)
		input.add("method", `"GET"`)
	}
}

// listing asks a server for what it has.
func (g *agentGenerator) listing(d *agentDraft) {
	d.route = pick(g.generator, append(handedOn, customServers...)...)
	switch g.IntN(8) {
	case 0:
		d.envelope("initialize")
		d.params.add("protocolVersion", `"2025-06-18"`)
	case 1:
		d.envelope("notifications/initialized")
		d.top.drop("id")
	case 2:
		d.envelope("ping")
	case 3:
		d.envelope("tools/call")
		d.params.add("name", `"mcp-adapter-discover-abilities"`)
		d.params.nest("arguments", new(written))
	case 4:
		d.verb, d.route, d.query = "GET", "/wp-abilities/v1/abilities", []string{"per_page=100"}
	default:
		d.envelope(pick(g.generator, "tools/list", "tools/list", "prompts/list", "resources/list"))
	}
}
