package platforms

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed namespaces.txt
var namespaces string

// wellKnown returns the namespaces of the list and of the platforms, by themselves in lower
// case.
var wellKnown = sync.OnceValue(func() map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(namespaces) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			known[strings.ToLower(line)] = line
		}
	}
	for _, p := range All() {
		for _, ns := range append(p.Shop, p.Core, p.Checkout, p.Analytics, p.Abilities, p.MCP) {
			known[ns] = ns
		}
	}
	return known
})

// Namespaces returns the namespaces that are known of themselves, those of the platforms and of plugins, in order.
func Namespaces() []string { return slices.Sorted(maps.Values(wellKnown())) }

// Namespace returns the well-known namespace that is low in lower case.
func Namespace(low string) (namespace string, ok bool) {
	namespace, ok = wellKnown()[low]
	return namespace, ok
}
