package dryrun_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// TestRules_SameAs: a directive that refers to an equal one before it has its rules, with the places
// of its own lines.
func TestRules_SameAs(t *testing.T) {
	t.Parallel()
	c := load(t, `(guard) {
	restwarden cms {
		deny /a
		{block}
	}
	reverse_proxy 127.0.0.1:1
}
http://one.example {
	import guard {
		deny /own
	}
}
http://two.example {
	import guard {
		deny /own
	}
}
`)
	rules, err := c.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, r.Rule+" "+filepath.Base(r.At))
	}
	if want := []string{"deny /a Caddyfile:3", "deny /own Caddyfile:10", "deny /own Caddyfile:15"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for address, at := range map[string]string{"http://one.example/cms-json/own": "Caddyfile:10", "http://two.example/cms-json/own": "Caddyfile:15"} {
		r, err := dryrun.Build("GET", address, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := c.Run(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if d := result.Decision; d == nil || d.Rule != "deny /own" || filepath.Base(d.At) != at {
			t.Errorf("%s: %+v, want a refusal by %s", address, d, at)
		}
	}
}
