//go:build wordpress

package wordpress

import (
	"net/url"
	"slices"
	"strings"
)

// manners adds what real clients add to a plain message.
func (g *agentGenerator) manners(d *agentDraft) {
	if d.top == nil {
		return
	}
	d.ctype = pick(g.generator, "application/json", "application/json; charset=utf-8")
	if g.oneIn(3) {
		d.headers = append(d.headers, "MCP-Protocol-Version: 2025-06-18")
	}
	if method := d.of(d.top, "method"); method != "" && g.oneIn(3) {
		d.headers = append(d.headers, "Mcp-Method: "+method)
		if name := d.of(d.params, "name") + d.of(d.params, "uri"); name != "" {
			d.headers = append(d.headers, "Mcp-Name: "+name)
		}
	}
	if g.oneIn(8) {
		d.top.set("id", pick(g.generator, `"a1"`, "0", "12345"))
	}
}

// of returns a text of an object.
func (d *agentDraft) of(w *written, key string) string {
	for _, m := range w.members {
		if m.key == key {
			return strings.Trim(m.value, `"`)
		}
	}
	return ""
}

// bend makes one place of the request odd.
func (g *agentGenerator) bend(d *agentDraft) {
	if d.top == nil {
		pick(g.generator, g.bendAddress, g.bendVerb, g.bendQuery)(d)
		return
	}
	pick(g.generator, g.bendName, g.bendName, g.bendDouble, g.bendDouble, g.bendNesting, g.bendNesting, g.bendEscape, g.bendID,
		g.bendVersion, g.bendList, g.bendList, g.bendAround, g.bendArguments, g.bendType, g.bendVerb, g.bendAddress, g.bendQuery,
		g.bendHeaders, g.bendCase, g.bendExtra)(d)
}

// innermost is the object whose member says what runs.
func (d *agentDraft) innermost() (w *written, key string) {
	if m := d.memberOf(d.params, "arguments"); m != nil && m.object != nil && d.memberOf(m.object, "ability_name") != nil {
		return m.object, "ability_name"
	}
	if d.memberOf(d.params, "uri") != nil {
		return d.params, "uri"
	}
	return d.params, "name"
}

func (*agentDraft) memberOf(w *written, key string) *member {
	if i := slices.IndexFunc(w.members, func(m member) bool { return m.key == key }); i >= 0 {
		return &w.members[i]
	}
	return nil
}

// bendName changes the name that is called, in ways that some servers undo.
func (g *agentGenerator) bendName(d *agentDraft) {
	w, key := d.innermost()
	m := d.memberOf(w, key)
	if m == nil {
		return
	}
	name := strings.Trim(m.value, `"`)
	blank := pick(g.generator, " ", `\t`, `\n`, `\r`, `\u0000`, `\u000b`, `\f`, `\u00a0`)
	w.set(key, pick(g.generator, quoted(name+blank), quoted(blank+name), quoted(strings.ToUpper(name)), quoted(strings.ReplaceAll(name, "-", "/")),
		quoted(dashed(name)), quoted(strings.ReplaceAll(name, "-", "--")), "["+quoted(name)+"]", "null", "true", `{"a":`+quoted(name)+"}"))
}

// other is a name beside the one that runs.
func (g *agentGenerator) other(key string) string {
	switch key {
	case "uri":
		return `"lab://other"`
	case "ability_name":
		return pick(g.generator, `"lab/read-item"`, `"lab/write-item"`)
	}
	return pick(g.generator, `"lab-read-item"`, `"lab-write-item"`, `"ping"`)
}

// bendDouble writes a key twice: the last one counts.
func (g *agentGenerator) bendDouble(d *agentDraft) {
	w, key := d.innermost()
	twice, value := w, g.other(key)
	switch g.IntN(5) {
	case 0:
		twice, key, value = d.top, "method", pick(g.generator, `"ping"`, `"tools/call"`, `"tools/list"`)
	case 1:
		twice, key, value = d.top, "params", `{"name":"lab-write-item","arguments":{"id":6}}`
	case 2:
		twice, key, value = d.params, "arguments", `{"ability_name":"lab/write-item","parameters":{"id":6}}`
	}
	double := member{key: pick(g.generator, key, g.escaped(key)), value: value}
	if g.IntN(2) == 0 {
		twice.members = append(twice.members, double)
		return
	}
	twice.members = append([]member{double}, twice.members...)
}

// bendNesting puts the call one level deeper, or higher.
func (g *agentGenerator) bendNesting(d *agentDraft) {
	inner := &written{members: slices.Clone(d.params.members)}
	call := `{"name":"lab-write-item","arguments":{"id":6}}`
	switch g.IntN(5) {
	case 0:
		d.params.members = []member{{key: "name", value: `"lab-read-item"`}, {key: "params", object: inner}}
	case 1:
		d.params.members = []member{{key: "params", object: inner}}
	case 2:
		d.params.add("params", pick(g.generator, call, `{"params":`+call+`}`, "null", "[]", `"x"`))
	case 3:
		d.top.members = append(d.top.members, d.params.members...)
		if g.IntN(2) == 0 {
			d.top.drop("params")
		}
	default:
		d.params.add("method", `"tools/call"`)
		d.params.add("0", call)
	}
}

func (g *agentGenerator) escaped(text string) string {
	if text == "" {
		return text
	}
	i := g.IntN(len(text))
	return text[:i] + `\u00` + inHex(text[i]) + text[i+1:]
}

func inHex(c byte) string { return string([]byte{"0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}) }

// bendEscape writes a letter of a key or a value by its number.
func (g *agentGenerator) bendEscape(d *agentDraft) {
	w, key := d.innermost()
	if g.IntN(2) == 0 {
		w, key = d.top, "method"
	}
	m := d.memberOf(w, key)
	if m == nil || m.object != nil || len(m.value) < 2 || m.value[0] != '"' {
		return
	}
	if g.IntN(2) == 0 {
		m.key = g.escaped(key)
		return
	}
	m.value = quoted(g.escaped(strings.Trim(m.value, `"`)))
}

func (g *agentGenerator) bendID(d *agentDraft) {
	if g.IntN(3) == 0 {
		d.top.drop("id")
		return
	}
	d.top.set("id", pick(g.generator, `"x"`, "null", `""`, "false", "[]", "{}", "1.5", "-1", "7e0", "[7]", "12345678901234567890"))
}

func (g *agentGenerator) bendVersion(d *agentDraft) {
	if g.IntN(3) == 0 {
		d.top.drop("jsonrpc")
		return
	}
	d.top.set("jsonrpc", pick(g.generator, "2.0", `"1.0"`, "2", `" 2.0"`, `"\u0032.0"`, "null"))
}

// bendList makes a list of the message, or an object that PHP takes for one.
func (g *agentGenerator) bendList(d *agentDraft) {
	call := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"lab-write-item","arguments":{"id":6}}}`
	switch g.IntN(4) {
	case 0:
		d.before, d.after = "["+d.before, d.after+"]"
	case 1:
		d.before, d.after = "["+d.before, d.after+","+call+"]"
	case 2:
		d.before, d.after = `{"`+pick(g.generator, "0", `\u0030`, "00", "-0", " 0", "1")+`":`+d.before, d.after+"}"
	default:
		d.top.add(pick(g.generator, "0", `\u0030`, "1", "00"), pick(g.generator, call, "null", "5"))
	}
}

// bendAround puts something before or behind the message.
func (g *agentGenerator) bendAround(d *agentDraft) {
	d.before = pick(g.generator, " \n\t", "\ufeff", "", "\x00", ")]}'") + d.before
	d.after += pick(g.generator, "", " \r\n", "x", "{}", "\x00")
}

func (g *agentGenerator) bendArguments(d *agentDraft) {
	w, key := d.params, "arguments"
	if m := d.memberOf(d.params, "arguments"); m != nil && m.object != nil && g.IntN(2) == 0 {
		w, key = m.object, "parameters"
	}
	if g.IntN(4) == 0 {
		w.drop(key)
		return
	}
	w.set(key, pick(g.generator, "null", "[]", "[1]", `"x"`, "0", "false", `""`, `{"0":1}`, `{"input":"x"}`, `{"id":"5"}`, `{"id":5.0}`))
}

func (g *agentGenerator) bendType(d *agentDraft) {
	d.ctype = pick(g.generator, "", "text/plain", "application/x-www-form-urlencoded", "APPLICATION/JSON", "application/vnd.api+json",
		"application/json, text/plain", " application/json", "application/json-rpc", "text/json", "multipart/form-data; boundary=x", "application/json;q=1")
}

func (g *agentGenerator) bendVerb(d *agentDraft) {
	wire := pick(g.generator, "GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "POST", "post")
	switch g.IntN(3) {
	case 0:
		d.headers = append(d.headers, "X-HTTP-Method-Override: "+pick(g.generator, d.verb, "POST", "GET", "post"))
	case 1:
		d.query = append(d.query, "_method="+pick(g.generator, d.verb, "POST", "GET", "DELETE"))
	}
	d.verb = wire
}

func (g *agentGenerator) bendAddress(d *agentDraft) {
	route := d.route
	switch g.IntN(4) {
	case 0:
		route = strings.ToUpper(route)
	case 1:
		route += "/"
	case 2:
		i := 1 + g.IntN(len(route)-1)
		route = route[:i] + "%" + inHex(route[i]) + route[i+1:]
	}
	switch g.IntN(4) {
	case 0:
		d.path, d.query = "/", append(d.query, "rest_route="+pick(g.generator, route, url.QueryEscape(d.route)))
	case 1:
		d.path = "/index.php/wp-json" + route
	case 2:
		d.path, d.query = "/wp-json/wp/v2/types", append(d.query, "rest_route="+route)
	default:
		d.path = "/wp-json" + route
	}
}

// bendQuery names the call in the query, too.
func (g *agentGenerator) bendQuery(d *agentDraft) {
	d.query = append(d.query, pick(g.generator, "method=tools/call", "name=lab-write-item", "params[name]=lab-write-item", "x=/woocommerce/mcp",
		"_envelope=1", "_jsonp=cb", "_fields=result", "name=lab/write-item", "input[id]=5", "params[params][name]=lab-write-item"))
}

func (g *agentGenerator) bendHeaders(d *agentDraft) {
	d.headers = append(d.headers, pick(g.generator, "Mcp-Method: ping", "Mcp-Method: tools/call", "Mcp-Name: lab-read-item", "Mcp-Name: lab-write-item",
		"MCP-Protocol-Version: 2026-07-28", "Authorization: Bearer "+engineToken, "X-MCP-API-Key: "+shopKey))
}

func (g *agentGenerator) bendCase(d *agentDraft) {
	w, key := d.innermost()
	if g.IntN(2) == 0 {
		w, key = d.top, pick(g.generator, "method", "params")
	}
	if m := d.memberOf(w, key); m != nil {
		m.key = strings.ToUpper(key[:1]) + key[1:]
	}
}

// bendExtra adds members that change nothing.
func (g *agentGenerator) bendExtra(d *agentDraft) {
	d.top.add(pick(g.generator, "result", "error", "", `\u0000a`, "_meta"), pick(g.generator, "{}", "null", "1"))
}
