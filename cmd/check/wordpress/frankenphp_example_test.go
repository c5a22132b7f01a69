//go:build wordpress && frankenphp

package wordpress

import (
	"testing"

	"github.com/restwarden/restwarden/cmd/check/examples"
)

// TestFrankenPHP_Example: the example of FrankenPHP guards WordPress itself.
func TestFrankenPHP_Example(t *testing.T) {
	s := setUps(t)
	e := s.example(t, "frankenphp")
	e.site = s.site(franken)
	program, err := frankenPHP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.holds(t, examples.Place{Caddyfile: map[string]string{
		"/app/public": e.site.Root, "num_threads 16": "num_threads 1", // which every PHP can have
	}}, program, []string{"PHPRC=" + s.dir})
}
