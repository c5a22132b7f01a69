package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// repository is where the source of a release is to be read.
const repository = "https://github.com/restwarden/restwarden"

// inTree is a link to a page of the tree.
var inTree = regexp.MustCompile(`\]\(([^():#]+)((?:#[^()]*)?)\)`)

// notes returns what CHANGELOG.md says of a version, for its page on GitHub: links lead to the pages of
// its tag. A candidate such as v1.2.3-rc.1 has the notes of v1.2.3.
func notes(root, version string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md")) //nolint:gosec // of the repository
	if err != nil {
		return "", err
	}
	release, _, _ := strings.Cut(version, "-")
	_, section, found := strings.Cut(string(text), "\n## "+release+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if section = strings.TrimSpace(section); !found || section == "" {
		return "", fmt.Errorf("CHANGELOG.md has no section %q", "## "+release)
	}
	return inTree.ReplaceAllString(section, "]("+repository+"/blob/"+version+"/$1$2)") + "\n", nil
}
