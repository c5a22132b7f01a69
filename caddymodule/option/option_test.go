package option

import (
	"errors"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/restwarden/restwarden/policies/policy"
)

// TestImported_Format: Caddy writes imports into its errors as imported reads them.
func TestImported_Format(t *testing.T) {
	const source = "(inner) {\n\tx\n}\nhttp://a.example {\n\timport inner\n}\n"
	blocks, err := caddyfile.Parse("Caddyfile", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	d := caddyfile.NewDispenser(blocks[0].Segments[0])
	d.Next()
	const want = "x, at Caddyfile:2 import chain ['Caddyfile:5 (import inner)']"
	if got := d.WrapErr(errors.New("x")).Error(); got != want {
		t.Errorf("Caddy writes %q, not %q: imported cannot read it", got, want)
	}
	if got := imported(d); got != "Caddyfile:5" {
		t.Errorf("got %q", got)
	}
	if got := imported(caddyfile.NewTestDispenser("x")); got != "" {
		t.Errorf("nothing is imported: %q", got)
	}
}

// TestTakeLines: the lines that a site gives to a snippet have marks for places. Those of the
// snippet, and of a snippet within it, keep theirs.
func TestTakeLines(t *testing.T) {
	at := func(line, imported string, block ...policy.Option) policy.Option {
		return policy.Option{Pos: "Caddyfile:" + line, Imported: imported, Block: block}
	}
	directive := at("6", "sites/a:15, Caddyfile:2", at("7", "sites/a:15, Caddyfile:2"), at("3", "Caddyfile:8"),
		at("14", "Caddyfile:2", at("15", "Caddyfile:2")), at("16", "Caddyfile:2"), at("14", "Caddyfile:2"))
	lines := TakeLines(&directive)
	if want := (Lines{"Caddyfile:14", "Caddyfile:15", "Caddyfile:16"}); !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	var got []string
	for _, o := range directive.Block {
		got = append(got, o.Pos)
	}
	if want := []string{"Caddyfile:7", "Caddyfile:3", "{block}:1", "{block}:3", "{block}:1"}; !slices.Equal(got, want) || directive.Block[2].Block[0].Pos != "{block}:2" {
		t.Errorf("got %q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"{block}:3": "Caddyfile:16", "after {block}:1 ({block}:2)": "after Caddyfile:14 (Caddyfile:15)", "Caddyfile:7": "Caddyfile:7",
		"{block}:4": "{block}:4", "{block}:0": "{block}:0", "{block}:99999999999999999999": "{block}:99999999999999999999",
	} {
		if got := lines.In(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	own := at("6", "", at("7", ""), at("3", "Caddyfile:8"))
	if lines := TakeLines(&own); lines != nil {
		t.Errorf("lines of a directive that no snippet holds: %q", lines)
	}
}
