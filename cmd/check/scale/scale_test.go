package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: a few sites with roots of real size give a table without gaps, and profiles. Their
// roots together are larger than the memory that the gateway may keep.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--sites", "30", "--profile", dir}, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"30 sites, a REST root of 1000 routes and ", "bare", "one snippet", "a line each", "start: CPU", "reload: CPU", "three requests each: CPU", "live objects"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, last, _ := strings.Cut(text, "indexes read")
	if got := strings.Join(strings.Fields(last), " "); got != "0 30 30" {
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
	text := index(realRoutes)
	var got struct {
		Routes map[string]struct{ Namespace string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Routes); n != realRoutes {
		t.Errorf("%d routes", n)
	}
	if len(text) < 19e5 || len(text) > 22e5 {
		t.Errorf("%d bytes", len(text))
	}
}

// TestJudge: it fails where the roots of the sites stay in memory, and where each site's directive is
// spelled out.
func TestJudge(t *testing.T) {
	t.Parallel()
	for guarded, fails := range map[result]bool{
		{}:                                  false,
		{used: state{heap: 208 << 20}}:      false,
		{used: state{heap: 209 << 20}}:      true,
		{start: state{heap: 9 << 20}}:       true,
		{again: state{resident: 40 << 20}}:  false,
		{reload: state{resident: 41 << 20}}: true,
		{json: 2*500<<10 + 16<<10}:          false,
		{json: 2*500<<10 + 17<<10}:          true,
	} {
		bare := result{used: state{heap: 100 << 20}, json: 500 << 10}
		guarded.title = "a line each"
		table := results{bare, bare, guarded}
		if err := table.judge(); (err != nil) != fails {
			t.Errorf("%+v: %v", guarded, err)
		} else if fails && !strings.Contains(err.Error(), "a line each") {
			t.Error(err)
		}
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
