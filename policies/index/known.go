package index

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Unknown stands for a route or a namespace without a name.
const Unknown = "unknown"

// Known returns the namespace of a route as called if it is a well-known one, else
// "unknown". It is for sites whose index could not be read.
func Known(route string) string {
	if len(route) > maxRoute {
		return Unknown
	}
	text := lowerText(strings.TrimPrefix(route, "/"))
	for {
		if ns, ok := platforms.Namespace(text); ok {
			return ns
		}
		end := strings.LastIndexByte(text, '/')
		if end < 0 {
			return Unknown
		}
		text = text[:end]
	}
}
