package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: a few sites give a table without gaps, and profiles.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--sites", "3", "--routes", "50", "--profile", dir}, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"3 sites, an index of 50 routes each", "bare", "one snippet", "a line each", "start: CPU", "reload: CPU", "three requests each: CPU", "live objects"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, last, _ := strings.Cut(text, "indexes read")
	if got := strings.Join(strings.Fields(last), " "); got != "0 3 3" {
		t.Errorf("the indexes that were read: %q\n%s", got, text)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "memory") && strings.Contains(line, " 0 MiB") {
			t.Errorf("a process without memory: %s", line)
		}
	}
	for _, name := range []string{"start-bare.heap", "used-override.cpu"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("the profile %s: %v", name, err)
		}
	}
}

// TestIndex: the stand-in's index is JSON with as many different routes as it should have,
// and as long as a site's own.
func TestIndex(t *testing.T) {
	t.Parallel()
	text := index(800)
	var got struct {
		Routes map[string]struct{ Namespace string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Routes); n != 800 {
		t.Errorf("%d routes", n)
	}
	if len(text) < 500<<10 || len(text) > 2<<20 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestRun_Flags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--sites", "0"}, {"--routes", "-1"}, {"more"}, {"--unknown"}} {
		if err := run(t.Context(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
