package scopes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// Generator makes requests of one site.
type Generator struct {
	Base        string // home path, as clients write it
	Credentials []*Credential
	Clients     []string // addresses
	Scopes      []*Scope // so that many requests are inside of one

	speller speller
}

// Request is a request, and what it means.
type Request struct {
	Meaning
	Wire
	Note string // how it is written, for messages
}

// draw makes one request.
type draw struct {
	*Generator
	grammar.Choices
	r    *Request
	load load
}

// Next makes a request out of choices. Half of the requests are tried again a few times until a scope that binds them
// allows them: of all requests few are.
func (g *Generator) Next(c grammar.Choices) *Request {
	if g.speller.kept == nil {
		g.speller = speller{base: g.Base, kept: map[string][]Wire{}}
	}
	const tries = 5
	again := c.IntN(2) * tries
	for {
		d := &draw{Generator: g, Choices: c, r: &Request{}}
		d.any()
		if again--; again < 0 {
			return d.r
		}
		if v := Judge(g.Scopes, &d.r.Meaning); v.Passes && len(v.Bound) > 0 {
			return d.r
		}
	}
}

// any makes a request of any kind.
func (d *draw) any() {
	switch n := d.IntN(20); {
	case n < 13:
		d.call()
	case n < 16:
		d.batch()
	case n < 17:
		d.odd()
	case n < 19:
		d.page()
	default:
		d.message()
	}
}

func (d *draw) oneIn(n int) bool { return d.IntN(n) == n-1 }

func pick[T any](d *draw, of []T) T { return of[d.IntN(len(of))] }

// carry draws credentials; forms tells whether they may stand in a form.
func (d *draw) carry(forms bool) {
	n := 1
	if d.oneIn(6) {
		n = 2
	}
	taken := map[string]bool{}
	for range n {
		c := Carried{Credential: pick(d, d.Credentials)}
		c.Way = pick(d, ways[c.Kind])
		if c.Way.form() && !forms {
			c.Way = InQuery
		}
		if c.Kind == Key {
			c.Spelling = d.spelling(c.Way)
		}
		place := c.place()
		if taken[place] || !c.writable() {
			continue
		}
		taken[place] = true
		before := len(d.load.header)
		d.load.add(c)
		for _, line := range d.load.header[before:] {
			if strings.HasPrefix(line, "Authorization: ") {
				d.r.Lines++
			}
		}
		d.r.Repeated = d.r.Repeated || c.Spelling.twice && (c.Way.authorization() || c.Way == InMCP)
		d.r.Carried = append(d.r.Carried, c)
		d.r.Note += fmt.Sprintf(" %s (%d) %s;", c.Label, c.Way, c.Spelling.Name)
	}
	client := pick(d, d.Clients)
	for _, call := range d.r.Calls {
		call.Client = client
	}
	d.load.header = append(d.load.header, "X-Forwarded-For: "+client)
}

// place is what two credentials cannot both have.
func (c *Carried) place() string {
	switch {
	case c.Way.authorization():
		return "Authorization"
	case c.Way == InQuery || c.Way == InQueryAlone:
		return fmt.Sprint(InQuery)
	case c.Kind == Cookie:
		return "Cookie"
	}
	return fmt.Sprint(c.Kind, c.Way)
}

func (d *draw) spelling(w Way) Spelling {
	switch n := d.IntN(16); {
	case n < 12:
		return Spelling{}
	case n < 14:
		return pick(d, misspelled)
	case w.authorization() || w == InMCP:
		return Spelling{}
	case n == 14:
		return pick(d, otherwise)
	}
	return listed
}

// call makes one call in one of its spellings.
func (d *draw) call() {
	of := pick(d, routes)
	c := &Call{Route: of.route, Method: pick(d, strings.Fields(of.methods))}
	d.r.Calls = []*Call{c}
	body, content := "", ""
	switch {
	case of.rpc:
		body, content = jsonMark, message
		c.Members = []Member{{Path: "id"}, {Path: "jsonrpc"}, {Path: "method"}}
	case c.Method == http.MethodOptions:
	case !writes(c.Method):
		if d.oneIn(8) {
			c.Members = d.placed(Query)
		}
	case d.oneIn(2):
		body = jsonMark
		c.Members = d.placed(JSON)
	default:
		body = formMark
		c.Members = d.placed(Form)
	}
	if of.group != "" && d.oneIn(2) {
		d.replace(c, &of, map[string]Place{jsonMark: JSON, formMark: Form, "": Query}[body])
	}
	if body == jsonMark {
		content = object(c.Members)
	}
	d.carry(body == formMark)
	for _, m := range c.Members {
		pair := pairName(m.Path) + "=" + strings.NewReplacer(" ", "+", "@", "%40").Replace(m.Value.Text)
		switch m.Place {
		case Form:
			d.load.form = append(d.load.form, pair)
		case Query:
			d.load.query = append(d.load.query, pair)
		default: // it is in the object
		}
	}
	if c.Method == http.MethodGet && strings.HasPrefix(c.Route, "/wp/v2/posts") && d.oneIn(3) {
		d.load.query = append(d.load.query, pick(d, []string{"_embed", "_embed=author", "_envelope=1", "_fields=id"}))
	}
	if d.oneIn(40) {
		name := pick(d, []string{"wc-api-version", "wc-api", "wc-api-route"})
		d.load.query = append(d.load.query, name+"=3")
		c.Members = append(c.Members, Member{Place: Query, Path: name})
		d.r.Beside = Page
	}
	d.spell(c, body, content)
}

// replace gives a call a parameter that takes the place of a word of its route.
func (d *draw) replace(c *Call, of *known, at Place) {
	word := segments(of.route)[of.at]
	m := Member{Place: at, Path: of.group, Value: Value{Text: pick(d, []string{word, strings.ToUpper(word), "another", word + "/x"})}}
	c.Members = append(c.Members, m)
	d.r.Worded = slices.ContainsFunc(d.Scopes, func(s *Scope) bool { return s.spells(of) })
	d.r.Uncertain = d.r.Worded && !strings.EqualFold(m.Value.Text, word)
}

// spells tells whether a line of a scope has the word of a route for which the platform has a parameter.
func (s *Scope) spells(of *known) bool {
	return slices.ContainsFunc(s.Allow, func(l Line) bool {
		return slices.ContainsFunc(l.Routes, func(route string) bool {
			own := segments(route)
			return len(own) > of.at && own[of.at] == segments(of.route)[of.at] && fits(route, of.route)
		})
	})
}

// placed draws parameters.
func (d *draw) placed(at Place) (members []Member) {
	list := loads
	if at == JSON && d.oneIn(3) {
		list = literals
	}
	for _, m := range pick(d, list) {
		m.Place = at
		members = append(members, m)
	}
	if at != Query && len(members) > 0 && d.oneIn(10) { // once more in the query
		m := members[0]
		if m.Place = Query; !m.Value.Literal {
			m.Value.Text = pick(d, []string{m.Value.Text, "cancelled", "500"})
			members = append(members, m)
		}
	}
	return members
}

// spell writes a call.
func (d *draw) spell(c *Call, body, content string) {
	if body == formMark && d.load.form == nil {
		body = ""
	}
	if slices.ContainsFunc(d.r.Carried, func(c Carried) bool { return c.Kind == Jetpack }) { // its words are everyday ones
		c.Members = append(c.Members, Member{Place: Query, Path: "token"})
	}
	list := d.speller.spellings(c, body, d.load.query != nil)
	d.r.Wire = pick(d, list)
	if path := d.Base + "/any-page/"; d.oneIn(3) && d.r.Beside == REST && strings.HasPrefix(d.r.Target, path) {
		other := pick(d, []string{"/wc-api/v3/orders", "/xmlrpc.php"})
		d.r.Target = d.Base + other + d.r.Target[len(path):]
		d.r.Beside = Page
		if other == "/xmlrpc.php" {
			d.r.Beside = XMLRPC
		}
	}
	d.r.load(&d.load, content)
	if d.r.Method != http.MethodPost { // PHP has no form of it, so that no credential stands there
		d.r.Carried = slices.DeleteFunc(d.r.Carried, func(c Carried) bool { return c.Way.form() })
	}
	if d.r.Method != c.Method && (c.Method != http.MethodGet || d.r.Method != http.MethodHead) {
		d.r.Meaning.Wire = d.r.Method
		d.r.HeldBack = d.r.Method == http.MethodGet && d.r.Body != ""
	}
}

// odd makes a call that has no certain reading.
func (d *draw) odd() {
	of := pick(d, routes)
	for of.rpc || of.route == "/" {
		of = pick(d, routes)
	}
	c := &Call{Route: of.route, Method: "GET"}
	d.r.Calls, d.r.Uncertain = []*Call{c}, true
	d.carry(false)
	d.plain("GET", fmt.Sprintf(pick(d, uncertain), of.route[1:]))
}

// page makes a request that is no call.
func (d *draw) page() {
	d.r.Door = Page
	method := pick(d, []string{"GET", "GET", "POST", "PUT", "HEAD"})
	d.carry(method == "POST")
	d.plain(method, pick(d, pages))
}

// message makes a message to xmlrpc.php, or what is none.
func (d *draw) message() {
	target := pick(d, xmlrpc)
	method := pick(d, []string{"POST", "POST", "POST", "GET"})
	d.r.Door, d.r.Uncertain = XMLRPC, strings.Contains(target, "./")
	if method == "GET" {
		d.r.Door = Page
	}
	d.carry(false)
	d.plain(method, target)
	if method == "POST" {
		d.r.Header = append(d.r.Header, "Content-Type: text/xml")
		d.r.Body = "<methodCall><methodName>wp.getPosts</methodName></methodCall>"
	}
}

// plain writes a request to a target as it is.
func (d *draw) plain(method, target string) {
	d.r.Method, d.r.Target = method, d.Base+target
	if d.load.query != nil {
		sign := "?"
		if strings.Contains(target, "?") {
			sign = "&"
		}
		d.r.Target += sign + strings.Join(d.load.query, "&")
	}
	d.r.Header = append(d.r.Header, d.load.header...)
	if d.load.form != nil {
		d.r.Header = append(d.r.Header, "Content-Type: application/x-www-form-urlencoded")
		d.r.Body = strings.Join(d.load.form, "&")
	}
}
