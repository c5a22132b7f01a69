package wordpress

import (
	"fmt"
	"net/url"
	"strings"
)

const urlencoded = "application/x-www-form-urlencoded"

// pair is a parameter in the terms of each body: a name and value of a form, and both as JSON.
type pair struct{ name, value, jsonName, json string }

// conditioned returns the next request to the routes of conditions.php. Half of its parameters
// keep to the conditions of the gate; the others come close.
func (g *generator) conditioned() *message {
	d := &draft{method: pick(g, "POST", "PUT", "PATCH", "DELETE", "POST", "PUT", "GET")}
	switch g.rare(8) {
	case 0:
		g.probeBatch(d)
	case 1:
		g.probeItems(d)
	default:
		d.route = pick(g, "/probe/v1/kept/7", "/probe/v1/kept/7", "/probe/v1/named/7", "/probe/v1/compared/7", "/wc/v3/probes/7", "/wc/v3/probes")
		g.parameters(d)
	}
	g.address(d)
	if g.oneIn(5) {
		g.mutate(d)
	}
	if g.oneIn(6) {
		d.query = append(d.query, pick(g, "_locale=user", "_envelope=1", "_jsonp=cb", "_fields=id", "_embed", "_method=PUT", "_method=DELETE", "_method=GET", "_wpnonce=x", "consumer_key=x", "oauth_token=1", "_jsonp[status]=c", "_fields[]=status"))
	}
	if g.oneIn(10) {
		d.headers = append(d.headers, "X-HTTP-Method-Override: "+pick(g, "PUT", "GET", "POST", "DELETE", "HEAD", "put"))
	}
	m := g.finish(d)
	m.chunked = m.body != "" && g.oneIn(10)
	return m
}

// parameters puts up to three parameters into one place, and seldom one more into another.
func (g *generator) parameters(d *draft) {
	var pairs []pair
	for range g.IntN(4) {
		pairs = append(pairs, g.parameter())
	}
	if d.route == "/probe/v1/compared/7" && !g.oneIn(4) {
		pairs = append(pairs, pair{"status", "a", `"status"`, `"a"`})
	}
	switch g.IntN(8) {
	case 0, 1, 2:
		g.jsonBody(d, pairs)
	case 3, 4:
		d.ctype, d.form = urlencoded, formPairs(pairs)
	case 5:
		d.ctype, d.form = urlencoded, formPairs(pairs)
		g.multipart(d)
	case 6:
		d.query = formPairs(pairs)
	default:
		d.ctype = pick(g, "", "text/plain", "text", "application/octet-stream", "application/jsonx", "text/json", "x/y+json", "multipart/form-data; boundary=c")
		d.body = pick(g, strings.Join(formPairs(pairs), "&"), jsonObject(pairs), "", "--c\r\nContent-Disposition: form-data; name=\"status\"; filename=\"c\"\r\n\r\nc\r\n--c--\r\n")
	}
	if g.oneIn(5) {
		d.query = append(d.query, formPairs([]pair{g.parameter()})...)
	}
	if d.form != nil && d.body == "" && g.oneIn(8) {
		d.body = strings.Join(d.form, pick(g, ";", "&amp;", "&&", "&;")) + pick(g, "", "&", ";total=1", "\x00", "\r\n")
	}
}

// jsonBody writes pairs as JSON, of which some release or server may make something else.
func (g *generator) jsonBody(d *draft, pairs []pair) {
	d.ctype = "application/json"
	if g.oneIn(4) {
		d.ctype = pick(g, "application/json; charset=utf-8", "application/json;charset=UTF-16", "APPLICATION/JSON", "application/x+json", "application/vnd.api+json; x=y", "application/json, text/plain", " application/json", "application/json ;")
	}
	d.body = jsonObject(pairs)
	switch g.rare(24) {
	case 0:
		d.body = pick(g, "\ufeff", "\x00", " \n", "[", "x") + d.body
	case 1:
		d.body += pick(g, "\x00", " \n", "]", "x", "{}", ",", "\x0b")
	case 2:
		d.body = "[" + d.body + "]"
	case 3:
		d.body = pick(g, "null", "[]", `"status"`, "5", "true", `["c"]`, "[[1]]", `{"":1}`, `{"0":"c"}`, " ", `""`)
	}
}

// spellings of a name in a form; PHP takes some of them for it.
var memberSpellings = []string{"%s[]", "%s[x]", "+%s", "%%20%s", "%s%%00x", "%s%%00", "[%s", "%s[", "%s%%5B", "%s.", "%s%%20", "%%00%s", "x[%s]", "%s[[]", "&%s", "a;%s", "%s]"}

// parameter returns one that keeps to the conditions, or nearly.
func (g *generator) parameter() pair {
	name := pick(g, "status", "order_total", "billing", "id", "total", "rest_route", "_jsonp", "force")
	if g.IntN(3) > 0 {
		name = pick(g, "status", "order_total", "billing")
	}
	p := pair{name: name, jsonName: `"` + name + `"`}
	switch name {
	case "status":
		p.value, p.json = g.status()
	case "order_total":
		p.value, p.json = g.total()
	case "billing":
		p.name, p.value, p.json = g.billing()
	case "id":
		p.value, p.json = pick(g, "7", "8"), pick(g, "7", `"7"`, "8", "null", "7.0", "[7]")
	case "rest_route":
		p.value, p.json = "/probe/v1/named/8", `"/probe/v1/named/8"`
	default:
		p.value, p.json = "1", pick(g, "1", "null", "[]")
	}
	if g.oneIn(8) {
		p.jsonName = pick(g, `"\u0073tatus"`, `"Status"`, `"status "`, `"status\u0000"`, `"order.total"`, `"order total"`, `"billing.email"`, `"billing[email]"`, `"st\u0430tus"`, `""`, `"0"`)
		p.name = g.memberName(p.name)
	}
	return p
}

func (g *generator) memberName(name string) string {
	switch g.IntN(4) {
	case 0:
		return g.encodeOne(name)
	case 1:
		return strings.Replace(name, "_", pick(g, ".", "+", "%20", "[", "%2e"), 1)
	case 2:
		return strings.ToUpper(name)
	}
	return fmt.Sprintf(pick(g, memberSpellings...), name)
}

func (g *generator) status() (form, json string) {
	if g.IntN(5) > 0 {
		return pick(g, "a", "b", "5"), pick(g, `"a"`, `"b"`, `5`, `"5"`, `"\u0061"`)
	}
	return pick(g, "c", "A", "a+", "+a", "a%00", "a%0A", "", "a,b", "05", "5.0", "%61%62", "a%C3%28"),
		pick(g, `"c"`, `"A"`, `"a "`, `"a\u0000"`, `""`, "null", "true", `["a"]`, `{"0":"a"}`, "5.0", "5e0", "50e-1", `"\ud800"`, "05", "0.5e1", "-5", "[]")
}

func (g *generator) total() (form, json string) {
	if g.IntN(5) > 0 {
		return pick(g, "10", "9.99", "-1", "0", "10.0", ".5", "5."), pick(g, "10", "9.99", "-1", "0", `"10"`, "1e1", "-0", `"-3.5"`, "1E-2")
	}
	return pick(g, "11", "10.01", "1e9", "0x1A", "+11", "%2011", "", "-", "1e", "11-", "99999999999999999999", "1_1", "%D9%A1%D9%A1", "10.00000000000000000000001", "--11", "1.1.1"),
		pick(g, "11", "10.01", "1e400", "-1e400", "1e2", `"1e9"`, `" 11"`, `"11"`, `"0x1A"`, "null", "true", "[11]", "99999999999999999999", "10.0000000000000000000001", `"\u0661"`, "1e-400", "100000000000000000000e-19", `"INF"`)
}

func (g *generator) billing() (name, form, json string) {
	if g.IntN(5) > 0 {
		return "billing[email]", "x", `{"email":"x"}`
	}
	name = pick(g, "billing", "billing[]", "billing[Email]", "billing[email][x]", "billing[phone]", "billing[e%6Dail]", "billing%5Bemail%5D", "billing[email]x", "billing[+email]", "billing.email", "billing[email", "billing[[email]", "billing]email[")
	json = pick(g, "null", "[]", `{"phone":1}`, `{"email":"x","email":"y"}`, `{"email":{"x":1}}`, `{"email":"y"}`, `{"email":"x","phone":1}`, `"x"`, `[{"email":"x"}]`, `{"\u0065mail":"x"}`, `{"":"x"}`, "{}", `[["email","x"]]`)
	return name, pick(g, "x", "y", ""), json
}

func formPairs(pairs []pair) []string {
	all := []string{}
	for _, p := range pairs {
		all = append(all, p.name+"="+p.value)
	}
	return all
}

func jsonObject(pairs []pair) string {
	var all []string
	for _, p := range pairs {
		all = append(all, p.jsonName+":"+p.json)
	}
	return "{" + strings.Join(all, ",") + "}"
}

// probeBatch is a batch of the core, in JSON or a form.
func (g *generator) probeBatch(d *draft) {
	d.route, d.method = "/batch/v1", "POST"
	var parts, form []string
	for i := range 1 + g.IntN(2) {
		path := pick(g, "/probe/v1/kept/7", "/probe/v1/kept/7", "/probe/v1/named/7", "/probe/v1/compared/7", "/wc/v3/probes/7", "/PROBE/v1/kept/7", "/probe/v1/kept/7/")
		of := []pair{g.parameter()}
		if g.oneIn(3) {
			path += "?" + strings.Join(formPairs([]pair{g.parameter()}), "&")
		}
		method := pick(g, "PUT", "POST", "DELETE", "PATCH", "GET", "put")
		body := jsonObject(of)
		if g.oneIn(6) {
			body = pick(g, "[]", `""`, "null", `"status=c"`, `["c"]`, `{"status":"a","status":"c"}`)
		}
		extra := pick(g, "", "", `,"headers":{"Content-Type":"application/json"}`, `,"headers":{"X-HTTP-Method-Override":"GET"}`, `,"headers":{"Content-Type":"application/x-www-form-urlencoded"}`)
		parts = append(parts, fmt.Sprintf(`{"path":%q,"method":%q,"body":%s%s}`, path, method, body, extra))
		form = append(form, fmt.Sprintf("requests[%d][path]=%s", i, url.QueryEscape(path)), fmt.Sprintf("requests[%d][method]=%s", i, method))
		for _, p := range of {
			name, inner, nested := strings.Cut(p.name, "[")
			if nested {
				inner = "[" + inner
			}
			form = append(form, fmt.Sprintf("requests[%d][body][%s]%s=%s", i, name, inner, p.value))
		}
	}
	if g.oneIn(4) {
		d.ctype, d.form = urlencoded, form
		return
	}
	d.ctype, d.json = "application/json", []string{`"requests":[` + strings.Join(parts, ",") + `]`}
	if g.oneIn(6) {
		d.json = append(d.json, `"status":"c"`)
	}
}

// probeItems is a batch of the shop's kind.
func (g *generator) probeItems(d *draft) {
	d.route, d.method, d.ctype = "/wc/v3/probes/batch", pick(g, "POST", "PUT", "PATCH"), "application/json"
	for _, action := range []string{"create", "update"} {
		var items []string
		for range g.IntN(3) {
			of := []pair{g.parameter()}
			if action == "update" && !g.oneIn(8) {
				of = append(of, pair{"id", "7", `"id"`, pick(g, "7", "7", `"7"`, "8")})
			}
			items = append(items, jsonObject(of))
		}
		d.json = append(d.json, fmt.Sprintf("%q:", action)+"["+strings.Join(items, ",")+"]")
	}
	if g.oneIn(4) {
		d.query = append(d.query, formPairs([]pair{g.parameter()})...)
	}
	if g.oneIn(4) {
		p := g.parameter()
		d.ctype, d.json = urlencoded, nil
		name, inner, nested := strings.Cut(p.name, "[")
		if nested {
			inner = "[" + inner
		}
		d.form = []string{"update[0][id]=7", fmt.Sprintf("update[0][%s]%s=%s", name, inner, p.value)}
	}
}
