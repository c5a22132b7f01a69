package grammar

import (
	"fmt"
	"strings"
)

// chained writes a call that only rewritings one after the other lead to: what is cut stands in a
// word that decides, what is cut later around it, and both in capitals or in escapes that are taken
// away first.
func (g *Generator) chained(r *Request, aim *Aim) {
	r.note("rewritings one after the other")
	if !g.oneIn(4) {
		r.Target = aim.Base + pick(g, "/?rest_route="+aim.Route, "/wp-json"+aim.Route, "/wp-json"+aim.Route+"?_method="+aim.Method, "/wp-json"+aim.Route+"?id="+aim.Object, "/?/../?rest_route="+aim.Route)
	}
	word := pick(g, "rest_route", "wp-json", "_method", "id", aim.namespace(), "..")
	at := strings.Index(r.Target, word)
	if at < 0 {
		at, word = 0, r.Target
	}
	if g.oneIn(2) { // where a value ends at what it may not hold
		at += len(word)
		r.Target = r.Target[:at] + g.glue() + r.Target[at:]
	} else {
		at += g.IntN(len(word) + 1)
		r.Target = r.Target[:at] + g.parameter() + r.Target[at:]
	}
	path, query, asks := strings.Cut(r.Target, "?")
	if pairs := strings.Split(query, "&"); g.oneIn(3) && len(pairs) < 10 { // something may sort them
		shuffle(g, pairs)
		query = strings.Join(pairs, "&")
	}
	if asks || g.oneIn(2) { // some look for a whole parameter first
		query = pick(g, "cx=1&"+query, query+"&cx=1", query)
	}
	r.Target = g.disguised(strings.TrimSuffix(path+"?"+query, "?"))
}

// advertisers are names of parameters that caches cut.
var advertisers = []string{"utm_a", "fbclid", "cx", "gclid", "msclkid", "utm_source", "si", "ttclid"}

// parameter is one that is cut, from its name to the "&" behind it, or that is whole when another one
// in its name has been.
func (g *Generator) parameter() string {
	name := pick(g, advertisers...)
	if g.oneIn(2) {
		at := 1 + g.IntN(len(name)-1)
		name = name[:at] + pick(g, "utm_a=b&", "cx=1&", "&utm_source=x") + name[at:]
	}
	return name + pick(g, "=1&", "=b&", "=1", "=x%")
}

// glue is a parameter, or one in another's name, that is cut from the "&" before it on.
func (g *Generator) glue() string {
	name := pick(g, "utm_source", "cx", "gclid")
	return pick(g, "&"+name+"=x", "fbclid&"+name+"=x=1", "&fbclid&"+name+"=x=1", "msclkid&"+name+"=x=1&")
}

// disguised writes letters of a target as capitals or as escapes, or leaves it as it is.
func (g *Generator) disguised(target string) string {
	how := pick(g, "", "", "capitals", "%%%02x", "%%%02X")
	if how == "" {
		return target
	}
	every := pick(g, 16, 4, 1)
	var b strings.Builder
	for i := range min(len(target), 300) { // a long text must not take thousands of choices
		letter := 'a' <= target[i] && target[i] <= 'z' || target[i] == '_'
		switch {
		case !letter || !g.oneIn(every):
			b.WriteByte(target[i])
		case how == "capitals":
			b.WriteString(strings.ToUpper(target[i : i+1]))
		default:
			fmt.Fprintf(&b, how, target[i])
		}
	}
	return b.String() + target[min(len(target), 300):]
}
