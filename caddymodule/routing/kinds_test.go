package routing

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
)

// TestKinds: each of Caddy's own handlers has a row. A new one gets one on purpose, be it that of a
// handler that may do anything.
func TestKinds(t *testing.T) {
	rows := []string{"php"} // FrankenPHP's, which is not in here
	for _, m := range caddy.GetModules("http.handlers") {
		name := m.ID.Name()
		if strings.HasPrefix(name, "restwarden") || name == "probe" {
			continue
		}
		rows = append(rows, name)
		if kinds[name] == nil {
			t.Errorf("the handler %s has no row in kinds", name)
		}
	}
	for name, k := range kinds {
		if !slices.Contains(rows, name) {
			t.Errorf("no Caddy has the handler %s", name)
		}
		if k.single && k.branches != nil || k.through && k.branches == nil || k.Run == RunNot {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if k := KindOf("of_a_plugin"); k.Run != RunNot || k.answers || k.quiet || k.single || k.Leads() || k.changes != everything {
		t.Errorf("a handler that is not known: %+v", k)
	}
}

// TestKinds_OneList: no other file sorts handlers by their names.
func TestKinds_OneList(t *testing.T) {
	known := func(name string) bool { return kinds[name] != nil }
	lists.Alone(t, known, lists.Sources(t, "../..", "caddymodule"), "kinds.go")
}
