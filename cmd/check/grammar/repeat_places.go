package grammar

import (
	"strconv"
	"strings"
)

// region is where units stand in a request.
type region struct {
	name  string
	kinds string // that have it
	most  int    // bytes of it
	units []unit
	write func(r *Request, units string)
}

const (
	mostOfHead = 15 << 10 // of a target or of fields: servers take 16 KiB or more
	mostOfBody = 125 << 10
)

// fieldNames are fields whose values somebody reads closely.
var fieldNames = []string{"Connection", "Content-Type", "Authorization", "X-Forwarded-For", "X-HTTP-Method-Override"}

func (p *region) fieldNames() []string {
	if p.write == nil {
		return fieldNames
	}
	return []string{""}
}

func (p *region) put(r *Request, field, units string) {
	if p.write == nil {
		r.add(field, units)
		return
	}
	p.write(r, units)
}

var places = []region{
	{"path", "page call", mostOfHead, paths, func(r *Request, u string) { r.Target = "/" + strings.TrimPrefix(u, "/") + r.Target }},
	{"end of the path", "page call", mostOfHead, paths, func(r *Request, u string) {
		path, query, _ := strings.Cut(r.Target, "?")
		r.Target = path + u + "?" + query
	}},
	{"query", "page call", mostOfHead, pairs, func(r *Request, u string) { r.Target += mark(r.Target) + u }},
	{"query of a POST", "call batch", mostOfHead, pairs, func(r *Request, u string) { r.Method, r.Target = "POST", r.Target+mark(r.Target)+u }},
	{"value of a field", "page call", mostOfHead, fields, nil},
	{"names of fields", "page call", mostOfHead, []unit{{end: "X-#:1\n"}, {end: "X_#:1\n"}, {end: "X:#\n"}, {open: "X-#:", nest: "a", end: "\n"}, {end: "Cookie:a#=b\n"}, {end: "Accept:#\n"}}, func(r *Request, u string) {
		for line := range strings.Lines(u) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			r.add(name, value)
		}
	}},
	{"cookie", "page call", mostOfHead, []unit{{end: "a#=b; "}, {end: "wordpress_logged_in_#=a|9|b|c; "}, {end: "wordpress.a#=b; "}, {end: "wp_woocommerce_session_#=a; "}, {end: ";"}, {end: "="}, {end: "a; "}, {end: "%41#=%41; "}}, func(r *Request, u string) { r.add("Cookie", u) }},
	{"form", "page call form", mostOfBody, pairs, func(r *Request, u string) { posted(r, formType, u) }},
	{"form that names the route", "form", mostOfBody, pairs, func(r *Request, u string) { posted(r, formType, "rest_route=/wp/v2/posts&"+u) }},
	{"multipart", "call form", mostOfBody, []unit{
		{open: part + `name="a#`, nest: "[]", end: "\"\r\n\r\n1"}, {end: part + "name=\"a#\"\r\n\r\n1"}, {end: part + "name=\"a\"; filename=\"#\"\r\n\r\n1"}, {end: part + "\r\n\r\n"}, {open: part, nest: ";", end: "name=a\r\n\r\n1"}, {end: "\r\n--B"}, {open: "\r\n--B", nest: "\r\nA: b", end: "\r\n\r\n"}, {end: part + "name=\"rest_rout#\"\r\n\r\n1"},
	}, func(r *Request, u string) { posted(r, "multipart/form-data; boundary=B", u+"\r\n--B--\r\n") }},
	{"JSON", "call", mostOfBody, members, func(r *Request, u string) { posted(r, jsonType, "{"+strings.TrimSuffix(u, ",")+"}") }},
	{"parts", "batch", mostOfBody, []unit{{end: `{"path":"/wp/v2/posts?a#=1"},`}, {end: `{},`}, {open: `{"path":"/wp/v2/posts","body":{"a":`, nest: `[`, close: `]`, end: `}},`}, {end: `1,`}}, func(r *Request, u string) {
		posted(r, jsonType, `{"requests":[`+strings.TrimSuffix(u, ",")+`]}`)
	}},
	{"bodies of parts", "batch", mostOfBody, members, func(r *Request, u string) {
		posted(r, jsonType, `{"requests":[`+inParts(u, `{"path":"/wp/v2/posts","method":"POST","body":{`, `}},`, jsonCut)+`]}`)
	}},
	{"paths of parts", "batch", mostOfBody, pairs, func(r *Request, u string) {
		posted(r, jsonType, `{"requests":[`+inParts(u, `{"path":"/wp/v2/posts?`, `"},`, "&")+`]}`)
	}},
	{"items", "batch", mostOfBody, members, func(r *Request, u string) {
		posted(r, jsonType, `{"update":[`+inParts(u, `{"id":5,`, `},`, jsonCut)+`]}`)
	}},
	{"many items", "batch", mostOfBody, []unit{{end: `{},`}, {end: `1,`}}, func(r *Request, u string) {
		some := strings.Join(strings.SplitAfterN(u, ",", mostItems+1)[:mostItems], "")
		posted(r, jsonType, `{"create":[`+strings.TrimSuffix(some, ",")+`]}`)
	}},
	{"form of items", "batch", mostOfBody, pairs, func(r *Request, u string) {
		u = strings.ReplaceAll(u, "&", "&create[0][")
		posted(r, formType, allItems("create[#][compute_totals][]=1&")+"create[0]["+u[:min(len(u), mostOfBody)])
	}},
	{"form of a key's items", "batch", mostOfHead, items, func(r *Request, u string) {
		posted(r, formType, "update[0][id]=5&"+strings.TrimSuffix(u, "&"))
		r.add("Authorization", someKey)
	}},
	{"a key's items in the query", "batch", mostOfHead, items, func(r *Request, u string) {
		r.Method, r.Target = "POST", r.Target+mark(r.Target)+"update[0][id]=5&"+strings.TrimSuffix(u, "&")
		r.add("Authorization", someKey)
	}},
	{"query of items", "batch", mostOfHead, pairs, func(r *Request, u string) {
		r.Target += mark(r.Target) + u
		posted(r, jsonType, `{"create":[`+strings.TrimSuffix(allItems(`{},`), ",")+`]}`)
	}},
	{"collection", "batch", mostOfHead, []unit{{end: "/a"}, {end: "A"}, {end: "/#"}}, func(r *Request, u string) {
		r.Target = "/wp-json/wc/v3/" + u + "/batch"
		posted(r, jsonType, `{"create":[`+strings.TrimSuffix(allItems(`{},`), ",")+`]}`)
	}},
	{"posted collection", "batch", mostOfBody, []unit{{end: "/a"}, {end: "A"}}, func(r *Request, u string) {
		r.Target = "/"
		posted(r, formType, "rest_route=/wc/v3/"+u+"/batch&"+strings.TrimSuffix(allItems("delete[#]=1&"), "&"))
	}},
	{"arguments", "message", mostOfBody, members, func(r *Request, u string) {
		posted(r, jsonType, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp-adapter-execute-ability","arguments":{"ability_name":"shop/query","parameters":{`+strings.TrimSuffix(u, ",")+`}}}}`)
	}},
	{"messages", "message", mostOfBody, []unit{{end: `{"jsonrpc":"2.0","id":#,"method":"tools/list"},`}, {end: `{"method":"tools/call","params":{"name":"a#"}},`}, {end: `[],`}, {end: `1,`}}, func(r *Request, u string) {
		posted(r, jsonType, "["+strings.TrimSuffix(u, ",")+"]")
	}},
	{"tool", "message", mostOfBody, []unit{{end: "a-"}, {end: "/"}, {end: "-"}, {end: "_"}, {end: "a/"}, {end: `\u0061`}, {end: `\"`}}, func(r *Request, u string) {
		posted(r, jsonType, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+u+`","arguments":{}}}`)
	}},
}

const (
	// someKey makes the gateway ask the platform, and hold what it has read meanwhile.
	someKey = "Basic Y2tfYTpjc19i"

	part     = "\r\n--B\r\nContent-Disposition: form-data; "
	jsonType = "application/json"
	jsonCut  = `,"`
)

func mark(target string) string {
	if strings.Contains(target, "?") {
		return "&"
	}
	return "?"
}

func posted(r *Request, contentType, body string) {
	r.Method, r.Body = "POST", body
	r.Fields = append([]Field{{"Content-Type", contentType}, {"Content-Length", strconv.Itoa(len(body))}}, r.Fields...)
}

// mostItems is how many items a batch of a shop's collection may have.
const mostItems = 100

// allItems writes as many items as there may be, each with its number for "#".
func allItems(item string) string {
	var b strings.Builder
	for i := range mostItems {
		b.WriteString(strings.ReplaceAll(item, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// mostParts is how many parts a batch may have.
const mostParts = 25

// inParts spreads units over the parts of a batch, cut where a separator stands.
func inParts(units, before, behind, separator string) string {
	var b strings.Builder
	for size := len(units)/mostParts + 1; units != ""; {
		n := len(units)
		if size < n {
			if i := strings.Index(units[size:], separator); i >= 0 {
				n = size + i + 1
			}
		}
		b.WriteString(before + strings.TrimSuffix(strings.TrimSuffix(units[:n], ","), "&") + behind)
		units = units[n:]
	}
	return strings.TrimSuffix(b.String(), ",")
}
