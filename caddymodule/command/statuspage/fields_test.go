package statuspage

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// objectOf returns the struct that a type is, or points to.
func objectOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, t.Kind() == reflect.Struct
}

// has tells whether one of the types has the members, each in the one before. What is no object ends
// that: it has the language's own.
func has(types []reflect.Type, names ...string) bool {
	return slices.ContainsFunc(types, func(t reflect.Type) bool {
		for _, name := range names {
			of, ok := objectOf(t)
			if !ok {
				return true
			}
			fields := reflect.VisibleFields(of)
			i := slices.IndexFunc(fields, func(f reflect.StructField) bool {
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return tag == name
			})
			if i < 0 {
				return false
			}
			t = fields[i].Type
		}
		return true
	})
}

var (
	bodies = map[string][]reflect.Type{"mode": {reflect.TypeFor[modeBody]()}, "lockdown": {reflect.TypeFor[adminapi.LockdownSwitch[string]]()}}
	// variables are what the script calls an object that it was told.
	variables = map[string][]reflect.Type{
		"s": {reflect.TypeFor[adminapi.Site]()}, "status": {reflect.TypeFor[adminapi.Site]()}, "p": {reflect.TypeFor[adminapi.Problem]()}, "q": {reflect.TypeFor[adminapi.Asked]()}, "scope": {reflect.TypeFor[adminapi.Scope]()}, "line": {reflect.TypeFor[adminapi.Line]()},
		"r": {reflect.TypeFor[adminapi.Refusal]()}, "store": {reflect.TypeFor[adminapi.Store]()}, "news": {reflect.TypeFor[news]()},
		"answer": {
			reflect.TypeFor[adminapi.Sites[adminapi.Site, adminapi.Store]](), reflect.TypeFor[adminapi.Refusals[adminapi.Refusal]](),
			reflect.TypeFor[adminapi.Switched](),
		},
	}
	access  = regexp.MustCompile(`\b(s|status|scope|line|p|q|r|store|news|answer)((?:\??\.\w+)+)`)
	sent    = regexp.MustCompile(`ask\("(\w+)", \{([^}]*)\}`)
	asked   = regexp.MustCompile(`(?:ask|EventSource)\("(\w+)[?"](, \{)?`)
	byName  = regexp.MustCompile(`\.(?:text|set)\("(\w+)"|\["(\w+)"\]`)
	ownPage = "page" // member of a site that only this package has: the address of its page
)

// TestFields_Script: the script of the page names members that the admin endpoint has, and that this
// package takes.
func TestFields_Script(t *testing.T) {
	t.Parallel()
	found := access.FindAllStringSubmatch(script, -1)
	if len(found) < 80 {
		t.Errorf("only %d members are named", len(found))
	}
	for _, m := range found {
		names := strings.Split(strings.ReplaceAll(m[2], "?", ""), ".")[1:]
		if !has(variables[m[1]], names...) && (m[1] != "status" || names[0] != ownPage) {
			t.Errorf("the script names %s, which nothing has", m[0])
		}
	}
	switches := sent.FindAllStringSubmatch(script, -1)
	if len(switches) < 6 {
		t.Errorf("only %d switches", len(switches))
	}
	for _, m := range switches {
		for part := range strings.SplitSeq(m[2], ",") {
			name, _, _ := strings.Cut(part, ":")
			if !has(bodies[m[1]], strings.TrimSpace(name)) {
				t.Errorf("the script sends %s with %s, which is not taken", m[1], name)
			}
		}
	}
}

// TestScript_Asks: the script asks for what this package serves, and for all of it.
func TestScript_Asks(t *testing.T) {
	t.Parallel()
	served := new(Page).routes()
	delete(served, "GET /{token}/{$}") // the page itself
	unasked := maps.Clone(served)
	for _, m := range asked.FindAllStringSubmatch(script, -1) {
		pattern := map[bool]string{false: "GET", true: "POST"}[m[2] != ""] + " /{token}/" + m[1]
		if delete(unasked, pattern); served[pattern] == nil {
			t.Errorf("the script asks for %s, which is not served", pattern)
		}
	}
	for pattern := range unasked {
		t.Errorf("the script never asks for %s", pattern)
	}
}

// TestFields_Objects: this package names members that the admin endpoint has.
func TestFields_Objects(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	told := slices.Concat(variables["answer"], variables["s"], variables["p"], variables["r"])
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range byName.FindAllStringSubmatch(string(text), -1) {
			found++
			if name := m[1] + m[2]; name != ownPage && !has(told, name) {
				t.Errorf("%s names %s, which nothing has", file, name)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d members are named", found)
	}
}
