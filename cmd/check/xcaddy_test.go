package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestXcaddyLines: every line of a page by which somebody builds a Caddy is one that the step xcaddy runs.
func TestXcaddyLines(t *testing.T) {
	t.Parallel()
	pages, run := documents(t), []string{}
	for _, page := range xcaddyPages {
		run = append(run, xcaddyLines(pages[page])...)
	}
	for path, text := range pages {
		if strings.Count(text, "xcaddy build ") != len(regexp.MustCompile(`(?m)^\s*(?:- run: )?xcaddy build `).FindAllString(text, -1)) {
			t.Errorf("%s: a line with xcaddy that does not stand alone", path)
		}
		for _, line := range xcaddyLines(text) {
			if !slices.Contains(run, line) {
				t.Errorf("%s: no step runs %q", path, line)
			}
		}
	}
	for _, path := range []string{"docs/install.md", "docs/commands/checks.md"} {
		if !strings.Contains(pages[path], "go install "+xcaddyPackage+"\n") {
			t.Errorf("%s does not install %s", path, xcaddyPackage)
		}
	}
	if !slices.Contains(xcaddyLines(pages["README.md"]), run[0]) || strings.Fields(run[0])[2] != "--with" {
		t.Errorf("the first line is %q", run[0])
	}
}

// TestOldestCaddy: the README and the page say which Caddy go.mod requires.
func TestOldestCaddy(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	oldest, err := oldestCaddy(root)
	if err != nil {
		t.Fatal(err)
	}
	pages := documents(t)
	says := regexp.MustCompile(`(?i)the oldest Caddy is (\d+\.\d+\.\d+)`)
	for _, page := range xcaddyPages {
		m := says.FindStringSubmatch(pages[page])
		if m == nil || "v"+m[1] != oldest {
			t.Errorf("%s: %q, go.mod requires %s", page, m, oldest)
		}
	}
	if !slices.ContainsFunc(xcaddyLines(pages["docs/install.md"]), func(line string) bool { return strings.HasPrefix(line, "xcaddy build "+oldest+" ") }) {
		t.Errorf("no line of docs/install.md builds %s", oldest)
	}
}

// TestModuleProxy: the go command finds a module in the proxy, a later run the module of its own, and the module cache
// keeps none of them.
func TestModuleProxy(t *testing.T) {
	t.Parallel()
	cache, start := t.TempDir(), time.Now().UTC()
	for i, text := range []string{"first", "second"} {
		source, proxy := filepath.Join(t.TempDir(), "beside"), &moduleProxy{dir: t.TempDir(), at: start.Add(time.Duration(i) * time.Second)}
		if err := writeBeside(source, "v2.0.0"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, "text"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := proxy.addFiles(source); err != nil {
			t.Fatal(err)
		}
		env := append(proxy.environment("off", ""), "GOMODCACHE="+cache)
		if out, err := machine.Run(t.Context(), t.TempDir(), env, "go", "mod", "download", besideModule+"@latest"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got, err := os.ReadFile(filepath.Join(cache, proxy.modules[0].String(), "text"))
		if err != nil || string(got) != text {
			t.Errorf("run %d has %q, %v", i, got, err)
		}
		if err := proxy.forget(cache); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "example.test", "*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "cache", "download", besideModule, "@v", "v*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// TestWordsOf: macros of a manual page are no words.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	if got := wordsOf(".PP\n\\fBexplain\\fP says --what\n.SH X"); got != " explain says what X " {
		t.Errorf("%q", got)
	}
}
