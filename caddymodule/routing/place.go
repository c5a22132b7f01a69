package routing

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
)

// Place writes where something stands: "Caddyfile:12 (imported by Caddyfile:3)", without
// the import if imported is "".
func Place(at, imported string) string {
	if imported != "" {
		at += " (imported by " + imported + ")"
	}
	return at
}

// SplitPlace returns file and line of a place such as "Caddyfile:12"; line 0 if it has none.
func SplitPlace(at string) (file string, line int) {
	if i := strings.LastIndexByte(at, ':'); i >= 0 {
		if line, err := strconv.Atoi(at[i+1:]); err == nil {
			return filepath.ToSlash(at[:i]), line
		}
	}
	return filepath.ToSlash(at), 0
}

// ComparePlaces orders places by file and by line, as [cmp.Compare] orders numbers.
func ComparePlaces(a, b string) int {
	fileA, lineA := SplitPlace(a)
	fileB, lineB := SplitPlace(b)
	return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(lineA, lineB))
}
