package routing

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// callsTo returns REST calls of each kind that the platform behind d understands
// (docs/reading): pretty paths, and the query's rest_route on any path. More of them are
// below the paths that the matchers at a place name.
func (v *survey) callsTo(d *Directive, at *visit) []*sample {
	platform, _ := platforms.ByName(d.Platform)
	route := "/" + platform.Core + "/users"
	query := "?rest_route=" + route
	prefix := platform.Prefix
	if d.Prefix != "" {
		prefix = d.Prefix
	}
	found := []*sample{
		v.sample("GET", d.Base+"/"+query), v.sample("GET", d.Base+"/index.php"+query),
		v.sample("GET", d.Base+"/"+prefix+route), v.sample("GET", d.Base+"/"+prefix),
		v.sample("GET", d.Base+"/index.php/"+prefix+route), v.sample("GET", d.Base+"/no-such-page"+query),
		v.sample("POST", d.Base+"/"+query), v.sample("POST", d.Base+"/"+prefix+route),
		v.sample("PUT", d.Base+"/"+prefix+route), v.sample("PATCH", d.Base+"/"+prefix+route), v.sample("DELETE", d.Base+"/"+query),
	}
	if d.Base != "" {
		found = append(found, v.sample("GET", d.Base+query))
	}
	for _, variable := range d.variables(at) {
		found = append(found, v.sample("GET", d.Base+"/"+prefix+route+"?"+variable), v.sample("GET", d.Base+"/"+query+"&"+variable))
	}
	for _, path := range d.paths(at) {
		found = append(found, v.sample("GET", path+query))
	}
	return slices.DeleteFunc(found, func(s *sample) bool { return s == nil })
}

// plainCalls returns the plainest calls to the platform behind d.
func (v *survey) plainCalls(d *Directive) []*sample {
	all := v.callsTo(d, nil)
	return all[:min(len(all), 3)]
}

func (v *survey) sample(method, target string) *sample {
	key := method + " " + target
	s, ok := v.samples[key]
	if !ok {
		s = newSample(method, target)
		v.samples[key] = s
	}
	return s
}

// paths returns paths below the base that fit the patterns of matchers at a place and on the
// way to d. The platform's front page answers those of files that do not exist.
func (d *Directive) paths(at *visit) []string {
	var found []string
	for _, p := range d.patterns(at) {
		path, ok := example(p)
		switch {
		case !ok:
		case path == d.Base || strings.HasPrefix(path, d.Base+"/"):
			found = append(found, path)
		case strings.HasPrefix(p, "*"):
			found = append(found, d.Base+path)
		}
	}
	if d.matches(at, "path_regexp") {
		for _, file := range staticFiles { // what most expressions are about
			found = append(found, d.Base+"/no-such-page."+file)
		}
	}
	return distinct(found)
}

// example returns a path that fits a pattern of the matcher path and may be a page. Scripts
// other than the front page are none.
func example(pattern string) (path string, ok bool) {
	if strings.HasSuffix(pattern, ".php") || strings.ContainsAny(pattern, "[\\%{") {
		return "", false
	}
	return wildcards.Replace("/" + strings.TrimPrefix(pattern, "/")), true
}

var wildcards = strings.NewReplacer("*", "no-such-page", "?", "x")

// staticFiles are the endings of files that configurations commonly treat apart.
var staticFiles = []string{"css", "js", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "woff", "woff2", "ttf", "txt", "pdf", "xml", "html"}

// variables returns variables of a query that fit the matchers at a place and on the way to d.
func (d *Directive) variables(at *visit) []string {
	found := map[string]bool{}
	d.each(at, func(m *matcher) {
		if m.kind != "query" {
			return
		}
		var wanted map[string][]string
		_ = jsonv1.Unmarshal(m.raw, &wanted)
		for name, values := range wanted {
			for _, value := range values {
				found[url.Values{name: {strings.ReplaceAll(value, "*", "x")}}.Encode()] = true
			}
		}
	})
	all := slices.Sorted(maps.Keys(found))
	return all[:min(len(all), maxPatterns)]
}

// matches tells whether a matcher of a kind stands at a place or on the way to d.
func (d *Directive) matches(at *visit, kind string) (found bool) {
	d.each(at, func(m *matcher) { found = found || m.kind == kind })
	return found
}

// maxPatterns bounds how many patterns of a configuration's matchers are tried.
const maxPatterns = 50

func (d *Directive) patterns(at *visit) []string {
	var found []string
	d.each(at, func(m *matcher) { found = append(found, m.paths...) })
	found = distinct(found)
	return found[:min(len(found), maxPatterns)]
}

// each calls do with each matcher at a place and on the way to d.
func (d *Directive) each(at *visit, do func(*matcher)) {
	var add func(m *matcher)
	add = func(m *matcher) {
		do(m)
		for _, set := range m.inner {
			for _, inner := range set {
				add(inner)
			}
		}
	}
	visits := d.visits
	if at != nil {
		visits = append([]*visit{at}, visits...)
	}
	for _, visit := range visits {
		for _, c := range visit.cubes {
			for _, a := range c {
				add(a.matcher)
			}
		}
	}
}
