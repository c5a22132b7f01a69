package routes

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Key folds a route as called to the key that patterns match: in lower case, since the platform
// ignores case, with single slashes, and with one slash at the head.
func Key(route string) string {
	key := phpvars.Lower(route)
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	for strings.Contains(key, "//") {
		key = strings.ReplaceAll(key, "//", "/")
	}
	return platforms.Versioned(key)
}
