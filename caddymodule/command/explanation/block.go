package explanation

import (
	"os"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/routing"
)

// importBlock returns the place of the import whose block takes lines for one site alone: the
// directive at a place stands in a snippet that has {block} in it. It is "" where there is none,
// or where a line in the block would stand behind the rule that it must stand before.
func importBlock(at, imported, before string) string {
	if imported == "" || strings.Contains(imported, " or ") {
		return ""
	}
	file, line := routing.SplitPlace(at)
	text, err := os.ReadFile(file) //nolint:gosec // the configuration that is explained
	if err != nil || line < 1 {
		return ""
	}
	block, end := placeholderBlock(strings.Split(string(text), "\n"), line)
	if block == 0 {
		return ""
	}
	if before != "" {
		if other, n := routing.SplitPlace(before); other != file || n < block || n > end {
			return ""
		}
	}
	nearest, _, _ := strings.Cut(imported, ", ")
	return nearest
}

// placeholderBlock returns the lines at which the directive that begins at a line has {block}, 0 for
// none, and ends.
func placeholderBlock(lines []string, line int) (block, end int) {
	depth := 0
	for i := line - 1; i < len(lines) && end == 0; i++ {
		for word := range strings.FieldsSeq(lines[i]) {
			if word[0] == '#' {
				break
			}
			switch word {
			case "{":
				depth++
			case "}":
				depth--
			case "{block}":
				if depth == 1 { // else it is the block of an option
					block = i + 1
				}
			}
		}
		if depth == 0 {
			end = i + 1
		}
	}
	return block, end
}
