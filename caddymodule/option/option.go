// Package option reads the lines of a Caddyfile as options, and their values. Each line knows where it
// stands and where it was imported, and errors say both.
package option

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

// Read converts d's line and the block that follows it, inner blocks included.
func Read(d *caddyfile.Dispenser) policy.Option {
	o := policy.Option{Name: d.Val(), Quoted: d.Token().Quoted(), Pos: position(d), Imported: imported(d), Args: d.RemainingArgs()}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		o.Block = append(o.Block, Read(d))
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

// InSite adds to an error in an imported directive the first address of the site's block.
// Caddy passes the block on, but not in the open.
func InSite(err error, h httpcaddyfile.Helper) error {
	block := field(reflect.ValueOf(h), "parentBlock")
	keys, named := field(block, "Keys"), field(block, "IsNamedRoute")
	if keys.Kind() != reflect.Slice || keys.Len() == 0 || named.Kind() != reflect.Bool || named.Bool() {
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
