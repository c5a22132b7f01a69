package index

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Unknown stands for a route or a namespace without a name.
const Unknown = "unknown"

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
	for _, p := range platforms.All() {
		for _, ns := range append(p.Shop, p.Core, p.Checkout, p.Analytics, p.Abilities, p.MCP) {
			known[ns] = ns
		}
	}
	return known
})

// KnownNamespaces returns the namespaces that are known without a site's index, in order.
func KnownNamespaces() []string { return slices.Sorted(maps.Values(wellKnown())) }

// Known returns the namespace of a route as called if it is a well-known one, else
// "unknown". It is for sites whose index could not be read.
func Known(route string) string {
	if len(route) > maxRoute {
		return Unknown
	}
	known, text := wellKnown(), lowerText(strings.TrimPrefix(route, "/"))
	for {
		if ns, ok := known[text]; ok {
			return ns
		}
		end := strings.LastIndexByte(text, '/')
		if end < 0 {
			return Unknown
		}
		text = text[:end]
	}
}
