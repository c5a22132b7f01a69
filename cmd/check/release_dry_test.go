package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/workflow"
)

// called writes what the stand-in of gh writes, and the files that it names.
func called(t *testing.T, words string, files map[string]string) *dryRun {
	t.Helper()
	d := &dryRun{dir: t.TempDir(), tag: "v1.2.3"}
	d.calls = filepath.Join(d.dir, "calls")
	at := filepath.Join(d.dir, "machines", "publish-0", "workspace", "one")
	notes := filepath.Join(d.dir, "notes.md")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{d.calls: strings.ReplaceAll(strings.ReplaceAll(words, " ", "\n"), "NOTES", notes) + "\n", notes: "[a](https://x.example/blob/v1.2.3/a)\n"}
	for name, text := range files {
		texts[filepath.Join(at, name)] = text
	}
	texts[d.calls] = strings.Replace(texts[d.calls], "no\ntoken", "no token", 1)
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestDryRun_Published: only a draft of the tag with its notes and all files is one.
func TestDryRun_Published(t *testing.T) {
	t.Parallel()
	const words = "restwarden/restwarden no token release create v1.2.3 --draft --verify-tag --title v1.2.3 --notes-file NOTES one/SHA256SUMS one/SHA256SUMS.minisig one/a.deb"
	files := map[string]string{"SHA256SUMS": "01  a.deb\n", "SHA256SUMS.minisig": "x", "a.deb": "y"}
	if found, err := called(t, words, files).published(); err != nil || len(found) != 3 {
		t.Errorf("%q, %v", found, err)
	}
	for name, tt := range map[string]struct{ old, changed, want string }{
		"no draft":           {"--draft ", "", "no draft of an existing tag"},
		"a tag to be made":   {"--verify-tag ", "", "no draft of an existing tag"},
		"an unknown flag":    {"--draft", "--draught", "draught"},
		"another tag":        {"create v1.2.3", "create v1.2.4", "gh was called with"},
		"another repository": {"restwarden/restwarden", "restwarden/other", "gh was called with"},
		"no token":           {"no token", "token", "gh was called with"},
		"no notes":           {"NOTES", "none.md", "none.md"},
		"no signature":       {" one/SHA256SUMS.minisig", "", "SHA256SUMS.minisig is not published"},
		"a file is left out": {" one/a.deb", "", "a.deb is not published"},
		"one file more":      {" one/a.deb", " one/a.deb one/b.deb", "4 files are published"},
		"no sums":            {" one/SHA256SUMS ", " ", "sums are not among"},
	} {
		_, err := called(t, strings.Replace(words, tt.old, tt.changed, 1), files).published()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestDryRun_Lines: the lines that the dry run takes from pages are there, and so is a version to release.
func TestDryRun_Lines(t *testing.T) {
	t.Parallel()
	for page, begins := range map[string]string{contributingPage: makesKey, installPage: verifies} {
		if line, err := lineOf(filepath.Join("../..", page), begins); err != nil {
			t.Errorf("%s: %q, %v", page, line, err)
		}
	}
	if m := newestVersion.FindStringSubmatch(documents(t)["CHANGELOG.md"]); m == nil {
		t.Error("CHANGELOG.md has no version")
	}
	w, err := workflow.Read(filepath.Join("../..", releaseWorkflow))
	if err != nil {
		t.Fatal(err)
	}
	if all := len(w.Commands()); allRan(w, all-1) == nil || allRan(w, all) != nil || allRan(w, all+1) != nil {
		t.Errorf("%d commands", all)
	}
}
