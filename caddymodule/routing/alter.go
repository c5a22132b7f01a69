package routing

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
)

// alteration is a change of a request that may make another call of it.
type alteration struct {
	what   string // as a Caddyfile has it
	header string // the name, or a pattern of names, of a header; "" for path, query, method or body
	strips string // the folder that is taken off the path; "" for any other change
	script bool   // the path becomes that of a script, or of the file that a matcher has found
}

// headerOps are what request_header and header_up do.
type headerOps struct {
	Add     map[string]json.RawMessage `json:"add"`
	Set     map[string]json.RawMessage `json:"set"`
	Delete  []string                   `json:"delete"`
	Replace map[string]json.RawMessage `json:"replace"`
}

// alterations returns the changes of headers, under the name that the option has.
func (o *headerOps) alterations(option string) []alteration {
	var names []string
	for _, fields := range []map[string]json.RawMessage{o.Add, o.Set, o.Replace} {
		names = append(names, slices.Sorted(maps.Keys(fields))...)
	}
	var found []alteration
	for _, name := range names {
		if !o.keeps(name) {
			found = append(found, alteration{what: option + " " + name, header: name})
		}
	}
	for _, name := range o.Delete {
		found = append(found, alteration{what: option + " -" + name, header: name})
	}
	return found
}

// keeps tells whether Authorization is only set to what it is. The gateway refuses a request
// that has it twice. Other headers are not the same where the client sends none, or several.
func (o *headerOps) keeps(name string) bool {
	if name != "Authorization" || given(o.Add[name]) || given(o.Replace[name]) {
		return false
	}
	var values []string
	_ = jsonv1.Unmarshal(o.Set[name], &values)
	return len(values) == 1 && values[0] == itself
}

// itself is what Authorization is.
const itself = "{http.request.header.Authorization}"

// rewriting is what rewrite, uri, method and handle_path do.
type rewriting struct {
	Method    string          `json:"method"`
	URI       string          `json:"uri"`
	Prefix    string          `json:"strip_path_prefix"`
	Suffix    string          `json:"strip_path_suffix"`
	Substring json.RawMessage `json:"uri_substring"`
	Path      json.RawMessage `json:"path_regexp"`
	Query     json.RawMessage `json:"query"`
}

// foundFile is what php_fastcgi and try_files rewrite to, and sameQuery the query of a request.
const (
	foundFile = "{http.matchers.file.relative}"
	sameQuery = "?{http.request.uri.query}"
)

func (w *rewriting) alterations() []alteration {
	var found []alteration
	add := func(is bool, a alteration) {
		if is {
			found = append(found, a)
		}
	}
	add(w.URI != "", alteration{what: "rewrite " + w.URI, script: toScript(w.URI)})
	add(w.Method != "", alteration{what: "method " + w.Method})
	add(w.Prefix != "", alteration{what: "handle_path or uri strip_prefix " + w.Prefix, strips: w.Prefix})
	add(w.Suffix != "", alteration{what: "uri strip_suffix " + w.Suffix})
	add(given(w.Substring), alteration{what: "uri replace"})
	add(given(w.Path), alteration{what: "uri path_regexp"})
	add(given(w.Query), alteration{what: "uri query"})
	return found
}

// toScript tells whether a rewrite changes nothing but the script that answers. A path behind
// the script's name would be its PATH_INFO, which may be a route.
func toScript(uri string) bool {
	path := strings.TrimSuffix(uri, sameQuery)
	_, behind, php := strings.Cut(strings.ToLower(path), ".php")
	return path == foundFile || php && behind == "" && !strings.ContainsAny(path, "{?%#")
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// altered notes that requests at s, which may have passed a directive, are changed.
func (f *flow) altered(h *handler, s spot) {
	if len(h.alters) == 0 {
		return
	}
	at := f.visit(s, false)
	for _, passed := range at.facts {
		if passed.kind != guarded || !at.meets(passed, nil) {
			continue
		}
		for _, c := range s.cubes {
			f.facts = append(f.facts, fact{cube: c.with(passed.cube...), kind: altered, guard: passed.guard, alters: h.alters})
		}
	}
}

// changed reports changes between a directive and the platform that it guards: W12.
func (v *survey) changed(at *visit) {
	for i := range at.facts {
		f := &at.facts[i]
		d := f.guard
		if f.kind != altered && (f.kind != guarded || len(at.alters) == 0) || d.changed || at.upstream.local {
			continue
		}
		alters := f.alters
		if f.kind == guarded {
			alters = at.alters
		}
		for _, a := range alters {
			if a.harmless(d, at) || !v.platformOf(d, at) || !at.meets(*f, nil) {
				continue
			}
			d.changed = true
			v.odd("W12", d, at.hosts, "write the change before restwarden, in the same block, or remove it",
				"%s changes requests between this directive and %s, so that another call than the judged one may come there", a.what, at.upstream.String())
			break
		}
	}
}

// harmless tells whether a change never makes another call of one that d has judged.
func (a *alteration) harmless(d *Directive, at *visit) bool {
	switch {
	case a.script:
		return at.upstream.php // PHP gets the client's own path, too
	case a.strips != "": // of a folder that the gateway takes off itself
		return a.strips == d.Base || strings.HasPrefix(d.Base, strings.TrimSuffix(a.strips, "/")+"/")
	case a.header != "":
		return !slices.ContainsFunc(d.deciding(), func(name string) bool { return namesHeader(a.header, name) })
	}
	return false
}

// deciding are the headers that say what a call is and who makes it.
func (d *Directive) deciding() []string {
	if d.decides == nil {
		platform, _ := platforms.ByName(d.Platform)
		d.decides = policies.Deciding(&platform, caller.Own{Headers: d.Headers}, d.Signatures)
	}
	return d.decides
}

// namesHeader tells whether a name, or a pattern with stars at its ends, may stand for a
// header. PHP takes all signs but letters and digits for the same.
func namesHeader(pattern, name string) bool {
	if strings.Contains(pattern, "{") {
		return true // a placeholder
	}
	name = folded(name)
	text, atStart := strings.CutPrefix(folded(pattern), "*")
	text, atEnd := strings.CutSuffix(text, "*")
	switch {
	case atStart && atEnd:
		return strings.Contains(name, text)
	case atStart:
		return strings.HasSuffix(name, text)
	case atEnd:
		return strings.HasPrefix(name, text)
	}
	return name == text
}

func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '*' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

// platformOf tells whether the visit leads to the platform that d guards: to what its
// plainest calls come to. Where these come to nothing, whatever d leads to may be one.
func (v *survey) platformOf(d *Directive, at *visit) bool {
	if d.platforms == nil {
		d.platforms = map[upstream]bool{}
		plain := v.plainCalls(d)
		for _, lead := range v.leads {
			if lead.upstream.local || !lead.after(d, plain) {
				continue
			}
			for _, one := range lead.upstream.each() {
				d.platforms[one] = true
			}
		}
	}
	return len(d.platforms) == 0 || slices.ContainsFunc(at.upstream.each(), func(one upstream) bool { return d.platforms[one] })
}

// after tells whether one of the calls may come to the visit through d.
func (at *visit) after(d *Directive, calls []*sample) bool {
	return slices.ContainsFunc(at.facts, func(f fact) bool {
		return f.kind == guarded && f.guard == d && slices.ContainsFunc(calls, func(s *sample) bool { return at.meets(f, s) })
	})
}
