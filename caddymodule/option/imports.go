package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
)

// Imports say where the lines of a directive were imported: under "" the directive itself,
// "Caddyfile:12"; under "snippets.caddy:3" the line that stands there, if it was imported elsewhere
// than the directive.
type Imports map[string]string

// ImportsOf returns the imports of a directive. A line of a snippet that
// is imported twice stands at one place with two imports, which " or " joins.
func ImportsOf(directive policy.Option) Imports {
	found := map[string][]string{}
	var note func(policy.Option)
	note = func(o policy.Option) {
		if o.Imported != directive.Imported && !slices.Contains(found[o.Pos], o.Imported) {
			found[o.Pos] = append(found[o.Pos], o.Imported)
		}
		for _, inner := range o.Block {
			note(inner)
		}
	}
	note(directive)
	all := Imports{}
	if directive.Imported != "" {
		all[""] = directive.Imported
	}
	for at, chains := range found {
		all[at] = strings.Join(chains, " or ")
	}
	return all
}

// At returns where the line at a place of the configuration was imported, or ""
// if it was not. Without a place it returns where the directive was imported.
func (i Imports) At(at string) string {
	if chain, ok := i[at]; ok {
		return chain
	}
	return i[""]
}

// Placed adds to an error of the directive at a place what it lacks of its own place: that of
// the directive, the import of the line, and the directive that imports the line.
func (i Imports) Placed(err error, at string) error {
	if err == nil {
		return nil
	}
	own := i.At("")
	line, placed := errors.AsType[*policy.PlacedError](err)
	if !placed {
		return policy.Option{Pos: at, Imported: own}.Errorf("%w", err)
	}
	if line.At == "" {
		return err
	}
	chain := line.Imported
	if chain == "" {
		if chain = i.At(line.At); chain != "" {
			err = &policy.PlacedError{Err: err, Imported: chain}
		}
	}
	if chain == own {
		return err
	}
	return &policy.PlacedError{Err: fmt.Errorf("%w, for restwarden at %s", err, at), Imported: own}
}
