package gateway

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/restwarden/restwarden/policies/policy"
)

// option converts d's line and the block that follows it, inner blocks included.
func option(d *caddyfile.Dispenser) policy.Option {
	o := policy.Option{Name: d.Val(), Pos: position(d), Imported: imported(d), Args: d.RemainingArgs()}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		o.Block = append(o.Block, option(d))
	}
	return o
}

func position(d *caddyfile.Dispenser) string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }

// imported returns where d's token was imported, nearest first: "Caddyfile:12,
// Caddyfile:1". It returns "" for a token that was not imported. A token keeps its imports
// to itself, so they are read from the text of an error that Caddy makes.
//
// Caddy forgets the outer import where a snippet imports another snippet.
func imported(d *caddyfile.Dispenser) string {
	text, ok := strings.CutPrefix(d.WrapErr(errors.New("")).Error(), ", at "+position(d)+" import chain ['")
	if !ok {
		return ""
	}
	chain := strings.Split(strings.TrimSuffix(text, "']"), "','")
	for i, place := range chain {
		if at := strings.LastIndex(place, " (import"); at >= 0 {
			chain[i] = place[:at]
		}
	}
	slices.Reverse(chain)
	return strings.Join(chain, ", ")
}

// imports returns the value of Gateway.Imported for a directive. A line of a snippet that
// is imported twice stands at one place with two imports, which " or " joins.
func imports(directive policy.Option) map[string]string {
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
	all := map[string]string{}
	if directive.Imported != "" {
		all[""] = directive.Imported
	}
	for at, chains := range found {
		all[at] = strings.Join(chains, " or ")
	}
	return all
}

// importedAt returns where the line at a place of the configuration was imported, or ""
// if it was not. Without a place it returns where the directive was imported.
func (g *Gateway) importedAt(at string) string {
	if chain, ok := g.Imported[at]; ok {
		return chain
	}
	return g.Imported[""]
}

// inSite adds to an error in an imported directive the first address of the site's block.
// Caddy passes the block on, but not in the open.
func inSite(err error, h httpcaddyfile.Helper) error {
	keys := field(field(reflect.ValueOf(h), "parentBlock"), "Keys")
	if keys.Kind() != reflect.Slice || keys.Len() == 0 || h.IsNamedRoute() {
		return err
	}
	address := field(keys.Index(0), "Text")
	if address.Kind() != reflect.String {
		return err
	}
	return fmt.Errorf("%w, in the site %s", err, address.String())
}

func field(v reflect.Value, name string) reflect.Value {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// placed adds to an error of the configuration what it lacks of its place: the place of
// the directive, the import of the line, and the directive that imports the line.
func (g *Gateway) placed(err error) error {
	if err == nil {
		return nil
	}
	own := g.importedAt("")
	line, placed := errors.AsType[*policy.PlacedError](err)
	if !placed {
		return policy.Option{Pos: g.At, Imported: own}.Errorf("%w", err)
	}
	if line.At == "" {
		return err
	}
	chain := line.Imported
	if chain == "" {
		if chain = g.importedAt(line.At); chain != "" {
			err = &policy.PlacedError{Err: err, Imported: chain}
		}
	}
	if chain == own {
		return err
	}
	return &policy.PlacedError{Err: fmt.Errorf("%w, for restwarden at %s", err, g.At), Imported: own}
}
