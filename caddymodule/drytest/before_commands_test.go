//go:build before

package drytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// adaptedBy returns the JSON that a program makes of a Caddyfile.
func adaptedBy(t *testing.T, program, file string) []byte {
	t.Helper()
	out := runs(t, program, filepath.Dir(file), "adapt", "--config", file, "--adapter", "caddyfile")
	if out.status != 0 {
		t.Fatal(out)
	}
	return []byte(out.stdout)
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var one, two any
	if err := errors.Join(json.Unmarshal(a, &one), json.Unmarshal(b, &two)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(one, two)
}

// programs are the one of before a change and this one.
func programs(t *testing.T) [2]string {
	t.Helper()
	before := os.Getenv("RESTWARDEN_BEFORE")
	if before == "" {
		t.Fatal("RESTWARDEN_BEFORE names no program")
	}
	return [2]string{before, caddyrun.Binary(t)}
}

// sameCommand holds that both programs do the same at one command.
func sameCommand(t *testing.T, dir string, args ...string) {
	t.Helper()
	both := programs(t)
	was, is := steady(runs(t, both[0], dir, args...).String()), steady(runs(t, both[1], dir, args...).String())
	if was != is {
		t.Errorf("%q was\n%s\nis\n%s", args, differing(was, is), differing(is, was))
	}
}

// differing is a text from its first line on that another has not.
func differing(text, other string) string {
	lines, others := strings.Split(text, "\n"), strings.Split(other, "\n")
	for i, line := range lines {
		if i >= len(others) || others[i] != line {
			return fmt.Sprintf("line %d: %.1500s", i+1, strings.Join(lines[i:], "\n"))
		}
	}
	return ""
}

// TestBefore_Explain: each configuration explains a share of the requests as before.
func TestBefore_Explain(t *testing.T) {
	p := newPlatform(t)
	for i, one := range slices.Concat(documented(t), written) {
		t.Run(one.name, func(t *testing.T) {
			c := prepared(t, one, p, usualSeed, nil)
			dir := filepath.Dir(c.file)
			for j, args := range explained {
				if (i+j)%4 != 0 {
					continue
				}
				for _, more := range [][]string{{"-v"}, {"--format", "json"}, {}}[:2+(i+j)/4%2] {
					sameCommand(t, dir, slices.Concat([]string{"restwarden", "explain", "--config", c.file}, more, args)...)
				}
			}
			for _, more := range [][]string{{}, {"--strict", "--format", "json"}, {"--index", fixture(t, "audit/root.json")}}[i%3:][:1] {
				sameCommand(t, dir, slices.Concat([]string{"restwarden", "check", "--config", c.file}, more)...)
			}
			if i%3 == 0 {
				sameCommand(t, dir, "restwarden", "audit", "--all", "--config", c.file, "--index", fixture(t, "audit/root.json"), "https://shop.example.com")
			}
		})
	}
}

// TestBefore_Commands: the commands without a configuration of their own, and what is odd
// in those that the tests of check have.
func TestBefore_Commands(t *testing.T) {
	dir := t.TempDir()
	for name := range strings.FieldsSeq("audit check classify confirmations demo explain lockdown observe plugins status suggest test") {
		sameCommand(t, dir, "restwarden", name, "--help")
	}
	for _, args := range []string{"", "woocommerce", "--format json", "--index " + fixture(t, "audit/root.json"), "none", "--index " + fixture(t, "audit/root.json") + " --format json woocommerce"} {
		sameCommand(t, dir, slices.Concat([]string{"restwarden", "plugins"}, strings.Fields(args))...)
	}
	for _, format := range []string{"text", "json"} {
		sameCommand(t, dir, "restwarden", "audit", "--format", format, "--index", fixture(t, "audit/root.json"), "https://shop.example.com")
	}
	for _, format := range []string{"text", "json", "junit", "github"} {
		files, _ := filepath.Glob(fixture(t, "test") + "/*.test.yaml")
		if len(files) == 0 {
			t.Fatal("no files")
		}
		for _, file := range files {
			sameCommand(t, dir, "restwarden", "test", "--format", format, "--verbose", file)
		}
	}
	files, _ := filepath.Glob(fixture(t, "check") + "/*.caddyfile")
	if len(files) < 60 {
		t.Fatal(len(files), "configurations")
	}
	for i, file := range files {
		sameCommand(t, dir, "restwarden", "check", "--strict", "--format", []string{"text", "json", "sarif"}[i%3], "--config", file)
	}
}
