package grammar

import (
	"fmt"
	"strconv"
	"strings"
)

// Repetition is a request that repeats a small unit as often as there is room for: what a
// reader does for each unit, it does very often.
type Repetition struct {
	*Request
	Kind   string // one of Kinds
	Place  string // where the units stand
	Unit   string // the first bytes of them
	Answer string // what the platform answers; "" for whatever it likes
}

// String names the request.
func (r *Repetition) String() string {
	return fmt.Sprintf("%s, %s, %s: %q", r.Kind, strings.Split(r.Target[:min(len(r.Target), shownOfUnits)], "?")[0], r.Place, r.Unit)
}

const shownOfUnits = 24

// Doors are the targets that requests of each kind go to.
type Doors map[string][]string

// Kinds are the kinds of requests that repeat units.
var Kinds = []string{"page", "call", "form", "batch", "message", "answer"}

// unit is what is repeated. A "#" in it is a number, another one each time.
type unit struct {
	open  string // before what is nested
	nest  string // repeated within the unit, and
	close string // as often behind it
	end   string // after what is nested
}

// place is where units stand in a request.
type place struct {
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

var (
	paths = []unit{
		{end: "/.php"},
		{end: "/a.php"},
		{end: "/index.php"},
		{end: ".php/"},
		{end: "/"},
		{end: "/a"},
		{end: "/."},
		{end: "/.."},
		{end: "%2f"},
		{end: "/%2e"},
		{end: "/%252e"},
		{end: "/wp-json"},
		{end: "/wp-jso"},
		{end: "-wp-json"},
		{end: "%41"},
		{end: "/#"},
		{end: ";"},
		{end: "%"},
		{end: "&utm_a=b%2f&gclid=a.b"},
	}
	pairs = []unit{
		{end: "a#=1&"},
		{end: "a=#&"},
		{end: "&"},
		{end: "a#&"},
		{open: "a#", nest: "[]", end: "=&"},
		{open: "a#", nest: "[#]", end: "=&"},
		{open: "a#", nest: "%5b%5D", end: "=1&"},
		{open: "a#", nest: "[", end: "=1&"},
		{open: "a", nest: "[]", end: "=1&"},
		{end: "a[#]=1&"},
		{open: "input[#]", nest: "[]", end: "=1&"},
		{end: "%41#=%41&"},
		{end: "a.b#=1&"},
		{end: "id=#&"},
		{end: "id[#]=1&"},
		{end: "_embed=#&"},
		{end: "_fields[#]=1&"},
		{end: "rest_route=0&"},
		{end: "rest.route#=1&"},
		{end: "+"},
		{end: "%00"},
		{end: ";a#=1"},
		{end: "x"},
		{end: "%"},
		{end: "&gclid=a|b%0"}, // names that caches cut, and escapes that the cuts tear
		{end: "%6utm_a=~&&gclid=a|b"},
		{end: "%utm_a=%25&&&gclid=a.|b&id%%0"},
		{end: "rest_rout&%6&utm_a=~&5=x"},
		{end: "%6|hsa_%65utm_a=&&&futm_/..&5b"},
	}
	members = []unit{
		{end: `"a#":1,`},
		{end: `"a":#,`},
		{end: `"id":#,`},
		{end: `"a#":[],`},
		{end: `"a#":{},`},
		{open: `"a#":`, nest: `[`, close: `]`, end: `,`},
		{open: `"a#":`, nest: `{"a":`, close: `}`, end: `,`},
		{open: `"a#":[`, nest: `1,`, end: `1],`},
		{end: `"\u0061#":"\u0061",`},
		{end: `"a#":"\\\"",`},
		{end: `"line_items":[],`},
		{open: `"meta_data":[`, nest: `{"id":1},`, end: `{}],`},
		{end: `"a#":1e9,`},
		{open: `"a#":"`, nest: "x", end: `",`},
		{open: `"input":[`, nest: `{},`, end: `1],`},
	}
	items  = []unit{{end: "update[0][a#]=&"}, {end: "update[0][a#][a][]=&"}, {end: "delete[#]=1&"}}
	fields = []unit{{open: "x", nest: ","}, {open: "a#", nest: ";"}, {end: "a#, "}, {end: "a#=b; "}, {end: " "}, {end: ";boundary=a#"}, {end: "="}}
)

var places = []place{
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

// text repeats u up to most bytes.
func (u unit) text(depth, most int) string {
	inner := ""
	if strings.HasSuffix(u.nest, ":") {
		inner = "1" // of the innermost object
	}
	once := u.open + strings.Repeat(u.nest, depth) + inner + strings.Repeat(u.close, depth) + u.end
	if !strings.Contains(once, "#") {
		return strings.Repeat(once, max(1, most/max(1, len(once))))
	}
	var b strings.Builder
	for i := 0; b.Len()+len(once) <= most || i == 0; i++ {
		b.WriteString(strings.ReplaceAll(once, "#", strconv.FormatInt(int64(i), 36)))
	}
	return b.String()
}

// fieldNames are fields whose values somebody reads closely.
var fieldNames = []string{"Connection", "Content-Type", "Authorization", "X-Forwarded-For", "X-HTTP-Method-Override"}

// Repetitions makes a request for every unit in every place of every kind, at every door of
// that kind, in an order that is always the same.
func Repetitions(doors Doors) (all []*Repetition) {
	for _, kind := range Kinds {
		for _, door := range doors[kind] {
			if kind == "answer" {
				for _, u := range answers {
					all = append(all, answered(door, u.text(depthOf(u), mostOfAnswer)))
				}
			}
			for _, p := range placesOf(kind) {
				all = append(all, p.repetitions(kind, door)...)
			}
		}
	}
	return all
}

// repetitions makes a request for every unit of a place.
func (p *place) repetitions(kind, door string) (all []*Repetition) {
	for _, u := range p.units {
		for _, name := range p.fieldNames() {
			all = append(all, p.repeat(kind, door, name, u.text(depthOf(u), p.most)))
		}
	}
	return all
}

// placesOf are the places that requests of a kind have.
func placesOf(kind string) (fit []*place) {
	for i := range places {
		if strings.Contains(places[i].kinds, kind) {
			fit = append(fit, &places[i])
		}
	}
	return fit
}

// Repetition makes a request of a kind at random: several units, in one place or in two.
func (g *Generator) Repetition(kind string, doors Doors) *Repetition {
	door := pick(g, doors[kind]...)
	if kind == "answer" {
		return answered(door, g.mixed(answers, g.upTo(mostOfAnswer)))
	}
	fit := placesOf(kind)
	p := pick(g, fit...)
	r := p.repeat(kind, door, pick(g, p.fieldNames()...), g.mixed(p.units, g.upTo(p.most)))
	if second := pick(g, fit...); second != p && second.most == mostOfHead && g.oneIn(2) && len(r.Target) < mostOfHead {
		second.put(r.Request, pick(g, second.fieldNames()...), g.mixed(second.units, g.upTo(second.most)))
		r.Place += " and " + second.name
	}
	return r
}

// upTo returns a size, mostly a large one: what is small is read and kept in other ways.
func (g *Generator) upTo(most int) int {
	return pick(g, most, most, most/2, most/2-100, most/8, most/32)
}

// mixed repeats one or two units together.
func (g *Generator) mixed(units []unit, most int) string {
	depth := pick(g, 0, 1, 10, 59, 60, 61, 400)
	u := pick(g, units...)
	if g.oneIn(2) {
		return u.text(depth, most)
	}
	other := pick(g, units...)
	return unit{end: u.text(depth, 1) + other.text(depth, 1)}.text(0, most)
}

// depthOf is the deepest nesting that PHP takes for a variable, and the gateway too.
func depthOf(u unit) int {
	if u.nest == "" {
		return 0
	}
	return 60
}

func (p *place) fieldNames() []string {
	if p.write == nil {
		return fieldNames
	}
	return []string{""}
}

func (p *place) put(r *Request, field, units string) {
	if p.write == nil {
		r.add(field, units)
		return
	}
	p.write(r, units)
}

func (p *place) repeat(kind, door, field, units string) *Repetition {
	r := &Repetition{Request: &Request{Method: "GET", Target: door}, Kind: kind, Place: p.name}
	r.Unit = units[:min(len(units), shownOfUnits)]
	p.put(r.Request, field, units)
	return r
}

const mostOfAnswer = 1 << 20

// answers are units of a list that the platform answers.
var answers = []unit{
	{end: `{"_embedded":{"author":[{"slug":"a#","link":"/a"}]}},`},
	{end: `{"id":#},`},
	{end: `1,`},
	{end: `[],`},
	{end: `{"a":"\u0061\/"},`},
	{end: `{"_embedded":{"author":[{}]}},`},
	{end: `{"slug":1},`},
	{open: `{"a":`, nest: `[`, close: `]`, end: `},`},
	{open: `{"a":`, nest: `{"body":`, close: `}`, end: `},`},
	{open: `{"_links":{"author":[`, nest: `{"href":"/wp-json/wp/v2/users/1"},`, end: `{}]},"_embedded":{"author":[{},{},{}]}},`},
	{open: `{"content":"`, nest: "lorem ipsum ", end: `"},`},
}

func answered(door, units string) *Repetition {
	r := &Repetition{Request: &Request{Method: "GET", Target: door}, Kind: "answer", Place: "answer", Answer: "[" + strings.TrimSuffix(units, ",") + "]"}
	r.Unit = units[:min(len(units), shownOfUnits)]
	return r
}

// Wire returns the request to host as it stands on the wire in HTTP/1.1.
func (r *Request) Wire(host string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, host)
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n" + r.Body)
	return []byte(b.String())
}
