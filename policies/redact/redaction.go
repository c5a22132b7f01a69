package redact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/rewrite"
)

// Redaction is one line `redact <route> <field>...`.
type Redaction struct {
	Route  string   `json:"route"`
	Fields []string `json:"fields"`
	// At is where the line stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	pattern routes.Pattern
	paths   [][]string
}

// Compile checks the route and the fields.
func (r *Redaction) Compile() (err error) {
	if r.pattern, err = routes.ParsePattern(r.Route); err != nil {
		return err
	}
	r.paths, err = fieldPaths(r.Fields)
	return err
}

// Pattern returns the route, once it is compiled.
func (r *Redaction) Pattern() routes.Pattern { return r.pattern }

// fieldPaths takes fields such as source.access_token apart.
func fieldPaths(fields []string) (paths [][]string, err error) {
	if len(fields) == 0 {
		return nil, errors.New("no field named")
	}
	for _, field := range fields {
		path := strings.Split(field, ".")
		if slices.Contains(path, "") {
			return nil, fmt.Errorf("%q is not a field path such as source.access_token", field)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Paths returns the field paths that lines redact in the answer to c, or to one of its parts.
func Paths(lines []Redaction, c *call.Call) (paths [][]string) {
	for i := range lines {
		if answers(c, lines[i].pattern) {
			paths = append(paths, lines[i].paths...)
			paths = append(paths, pathsByName(c, lines[i].paths)...)
		}
	}
	return paths
}

// pathsByName returns the paths into an answer that has its records by name, and none for any other.
func pathsByName(c *call.Call, paths [][]string) (byName [][]string) {
	if !slices.Contains(collectionsByName(), c.Key) {
		return nil
	}
	for _, path := range paths {
		byName = append(byName, slices.Concat([]string{rewrite.AnyName}, path))
	}
	return byName
}

// collectionsByName are the collections that the core answers as an object with a member for each record.
var collectionsByName = sync.OnceValue(func() (keys []string) {
	for _, p := range platforms.All() {
		for _, name := range []string{"types", "statuses", "taxonomies", "menu-locations"} {
			keys = append(keys, "/"+p.Core+"/"+name)
		}
	}
	return keys
})

// Embedded redacts an embedded object as the answer to c. If c is nil (unknown), all lines apply.
func Embedded(lines []Redaction, c *call.Call, value jsontext.Value) (jsontext.Value, error) {
	var paths [][]string
	for i := range lines {
		if c == nil || answers(c, lines[i].pattern) {
			paths = append(paths, lines[i].paths...)
		}
	}
	if paths == nil {
		return value, nil
	}
	return rewrite.Redact(value, paths)
}

func answers(c *call.Call, p routes.Pattern) bool {
	return p.Match(c.Key) || slices.ContainsFunc(c.Parts, func(part *call.Call) bool { return p.Match(part.Key) })
}
