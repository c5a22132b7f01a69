package option

import (
	"errors"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
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
