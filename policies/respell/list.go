package respell

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// spellings returns all spellings: each place with the method as it is where that is
// possible, each way to name the method with the pretty form, and the usual places with the
// usual ways.
func (w *writer) spellings() (list []Spelling) {
	add := func(p carrier, m naming) {
		if s, ok := w.write(p, m); ok {
			list = append(list, s)
		}
	}
	paths, ways := w.paths(), w.ways()
	places := slices.Concat(paths, w.queries(), w.forms())
	for _, p := range places {
		m := ways[0]
		if p.field != "" && w.method != http.MethodPost { // a form is of a POST
			pair := "_method=" + w.method
			m = naming{name: pair + " on POST", wire: http.MethodPost, pair: pair}
		}
		add(p, m)
	}
	for _, m := range ways[1:] {
		add(paths[0], m)
	}
	for _, p := range places {
		for _, m := range ways[1:] {
			if p.usual && m.usual {
				add(p, m)
			}
		}
	}
	return list
}

// upper writes the namespace of a route in capitals: the platform ignores the case of what
// it registered, and what follows may be the name of a record (docs/platform I.1.3).
func upper(route string) string {
	segments := strings.SplitAfterN(route, "/", 4)
	for i := range segments[:min(3, len(segments))] {
		segments[i] = strings.ToUpper(segments[i])
	}
	return strings.Join(segments, "")
}

// paths are the pretty forms (docs/platform I.1.4).
func (w *writer) paths() []carrier {
	at := func(name, before, route string) carrier {
		return carrier{name: name, path: w.base + before + w.prefix + route}
	}
	return []carrier{
		at("pretty", "/", strings.TrimSuffix(w.route, "/")),
		at("pretty, slash at the end", "/", strings.TrimSuffix(w.route, "/")+"/"),
		at("pretty, two slashes at the end", "/", strings.TrimSuffix(w.route, "/")+"//"),
		at("pretty, two slashes before the prefix", "//", strings.TrimSuffix(w.route, "/")),
		at("pretty, namespace in capitals", "/", strings.TrimSuffix(upper(w.route), "/")),
	}
}

// folded are spellings of the name rest_route that PHP folds (docs/platform I.1.5).
var folded = []string{
	"rest.route", "rest+route", "rest%20route", "rest[route", "rest%2Eroute", "rest%5Broute",
	"rest%5Froute", "r%65st_route", "+rest_route", "%20rest_route", "rest_route%00x",
}

// queries are the forms with rest_route in the query (docs/platform I.1.2).
func (w *writer) queries() []carrier {
	home, plain := w.base+"/", "rest_route="+inQuery(w.route)
	list := []carrier{
		{name: "query", path: home, pair: plain, usual: true},
		{name: "query on /index.php", path: w.base + "/index.php", pair: plain, usual: true},
		{name: "query on another page", path: w.base + "/any-page/", pair: plain},
		{name: "query beside the same path", path: w.paths()[0].path, pair: plain},
		{name: "query, encoded slashes", path: home, pair: "rest_route=" + strings.ReplaceAll(inQuery(w.route), "/", "%2F")},
		{name: "query, every byte encoded", path: home, pair: "rest_route=" + everyByte(w.route)},
		{name: "query, slash at the end", path: home, pair: plain + "/"},
		{name: "query, two slashes at the end", path: home, pair: plain + "//"},
		{name: "query, namespace in capitals", path: home, pair: "rest_route=" + inQuery(upper(w.route))},
		{name: "query, behind an empty pair", path: home, pair: "&" + plain},
	}
	for i, name := range folded {
		list = append(list, carrier{name: "query, folded name " + name, path: home, pair: name + "=" + inQuery(w.route), usual: i == 0})
	}
	return list
}

// forms are the forms with rest_route in the body of a POST.
func (w *writer) forms() []carrier {
	home, plain := w.base+"/", "rest_route="+inQuery(w.route)
	list := []carrier{
		{name: "form body", path: home, field: plain, usual: true},
		{name: "form body on /index.php", path: w.base + "/index.php", field: plain},
		{name: "form body on another page", path: w.base + "/any-page/", field: plain},
		{name: "form body beside the same path", path: w.paths()[0].path, field: plain},
		{name: "form body, encoded slashes", path: home, field: strings.ReplaceAll(plain, "/", "%2F")},
		{name: "form body, slash at the end", path: home, field: plain + "/"},
		{name: "form body, namespace in capitals", path: home, field: "rest_route=" + inQuery(upper(w.route))},
	}
	for i, name := range folded {
		list = append(list, carrier{name: "form body, folded name " + name, path: home, field: name + "=" + inQuery(w.route), usual: i == 0})
	}
	list = append(list,
		carrier{name: "multipart", path: home, field: "rest_route", multipart: true, usual: true},
		carrier{name: "multipart on /index.php", path: w.base + "/index.php", field: "rest_route", multipart: true})
	for _, name := range []string{"rest.route", "rest route", "rest[route", " rest_route"} {
		list = append(list, carrier{name: fmt.Sprintf("multipart, folded name %q", name), path: home, field: name, multipart: true})
	}
	return list
}

// ways are the ways to name the method, the plain one first (docs/platform I.2).
func (w *writer) ways() []naming {
	m := w.method
	list := []naming{{wire: m}}
	if m == http.MethodGet {
		list = append(list, naming{name: "HEAD", wire: http.MethodHead, usual: true})
	}
	for _, wire := range distinct(m, http.MethodGet, http.MethodPost) {
		behind := ""
		if wire != m {
			behind = " on " + wire
		}
		for i, pair := range []string{"_method=" + m, "_method=" + strings.ToLower(m), ".method=" + m, "%5Fmethod=" + m, "%20_method=" + m} {
			list = append(list, naming{name: pair + behind, wire: wire, pair: pair, usual: i == 0})
		}
		for i, value := range []string{m, strings.ToLower(m)} {
			line := "X-HTTP-Method-Override: " + value
			list = append(list, naming{name: line + behind, wire: wire, header: line, usual: i == 0})
		}
	}
	return list
}

func distinct(all ...string) (list []string) {
	for _, s := range all {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// inQuery writes a route as a value of a query or form, with its slashes as they are.
func inQuery(route string) string {
	return strings.ReplaceAll(url.QueryEscape(route), "%2F", "/")
}

// everyByte writes every byte of a route as an escape.
func everyByte(route string) string {
	var b strings.Builder
	for i := range len(route) {
		fmt.Fprintf(&b, "%%%02X", route[i])
	}
	return b.String()
}
