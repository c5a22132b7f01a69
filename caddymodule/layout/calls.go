package layout

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// callsTo returns REST calls of each kind that the platform behind d understands
// (docs/reading): pretty paths, and the query's rest_route on any path. More of them are
// below the paths that the matchers at a place name.
func (v *survey) callsTo(d *Directive, at *visit) []*sample {
	platform, _ := call.PlatformByName(d.platform)
	route := "/" + platform.Core + "/users"
	query := "?rest_route=" + route
	prefix := platform.Prefix
	if d.prefix != "" {
		prefix = d.prefix
	}
	found := []*sample{
		v.sample("GET", d.base+"/"+query), v.sample("GET", d.base+"/index.php"+query),
		v.sample("GET", d.base+"/"+prefix+route), v.sample("GET", d.base+"/"+prefix),
		v.sample("GET", d.base+"/index.php/"+prefix+route), v.sample("GET", d.base+"/no-such-page"+query),
		v.sample("POST", d.base+"/"+query), v.sample("POST", d.base+"/"+prefix+route),
	}
	if d.base != "" {
		found = append(found, v.sample("GET", d.base+query))
	}
	for _, path := range d.paths(at) {
		if path == d.base || strings.HasPrefix(path, d.base+"/") {
			found = append(found, v.sample("GET", path+query))
		}
	}
	return slices.DeleteFunc(found, func(s *sample) bool { return s == nil })
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

// paths returns paths that fit the patterns of matchers at a place and on the way to d. The
// platform's front page answers those of files that do not exist.
func (d *Directive) paths(at *visit) []string {
	var found []string
	for _, p := range d.patterns(at) {
		switch {
		case strings.HasSuffix(p, ".php") && !strings.Contains(p, "*") || strings.ContainsAny(p, "?[\\%{"):
		case !strings.Contains(p, "*"):
			found = append(found, p)
		case strings.HasSuffix(p, ".php"):
		default:
			found = append(found, strings.ReplaceAll(cleanPrefix(p), "*", "no-such-page"))
		}
	}
	return distinct(found)
}

// cleanPrefix makes a path of a pattern such as "*.css".
func cleanPrefix(p string) string {
	if !strings.HasPrefix(p, "/") {
		return "/" + p
	}
	return p
}

// maxPatterns bounds how many patterns of a configuration's matchers are tried.
const maxPatterns = 50

func (d *Directive) patterns(at *visit) []string {
	var found []string
	var add func(m *matcher)
	add = func(m *matcher) {
		found = append(found, m.paths...)
		for _, set := range m.inner {
			for _, inner := range set {
				add(inner)
			}
		}
	}
	visits := d.visits
	if at != nil {
		visits = append(slices.Clip(visits), at)
	}
	for _, visit := range visits {
		for _, c := range visit.cubes {
			for _, a := range c {
				add(a.matcher)
			}
		}
	}
	found = distinct(found)
	return found[:min(len(found), maxPatterns)]
}
