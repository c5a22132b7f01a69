package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// TestRun_Arguments: what cannot become a release ends before anything is built.
func TestRun_Arguments(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no directory":       {nil, "0 arguments"},
		"two":                {[]string{"a", "b"}, "2 arguments"},
		"unknown system":     {[]string{"--systems", "linux/amd64,plan9/386", t.TempDir()}, `no release is made for "plan9/386"`},
		"a directory in use": {[]string{full}, "is not empty"},
		"unknown flag":       {[]string{"--fast", t.TempDir()}, "-fast"},
	} {
		err := run(t.Context(), tt.args, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestDebianVersion: Debian sorts "~" before the end, and what is left is one upstream version.
func TestDebianVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1.2.3":                             "1.2.3",
		"v1.2.3-rc.1":                        "1.2.3~rc.1",
		"v1.2.3-rc-1":                        "1.2.3~rc.1",
		"v0.0.0-20261123150949-a0df6f6917fc": "0.0.0~20261123150949.a0df6f6917fc",
		"v0.0.0-20261123150949-a0df6f6917fc+dirty": "0.0.0~20261123150949.a0df6f6917fc+dirty",
	} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// TestArchives: the same files are the same bytes, with the time and the owner that they are
// given.
func TestArchives(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	files := []file{{"caddy", []byte("program"), 0o755}, {"LICENSE", []byte("text"), 0o644}}
	dir := t.TempDir()
	for ending, write := range map[string]func(string, string, []file, time.Time) error{".tar.gz": writeTar, ".zip": writeZip} {
		var written [2][]byte
		for i, name := range []string{"one", "other"} {
			path := filepath.Join(dir, name+ending)
			err := write(path, "restwarden", files, at)
			if err == nil {
				written[i], err = os.ReadFile(path)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(written[0], written[1]) {
			t.Errorf("%s: the bytes differ", ending)
		}
	}
	tarred(t, filepath.Join(dir, "one.tar.gz"), at)
	r, err := zip.OpenReader(filepath.Join(dir, "one.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if f := r.File[0]; f.Name != "restwarden/caddy" || f.Mode() != 0o755 || !f.Modified.Equal(at) {
		t.Errorf("%s %s %s", f.Name, f.Mode(), f.Modified)
	}
}

func tarred(t *testing.T, path string, at time.Time) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("gzip names %q of %s", z.Name, z.ModTime)
	}
	h, err := tar.NewReader(z).Next()
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != "restwarden/caddy" || h.Mode != 0o755 || h.Uid != 0 || h.Uname != "root" || !h.ModTime.Equal(at) {
		t.Errorf("%+v", h)
	}
}

var (
	pinned   = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	released = regexp.MustCompile(`go run \./cmd/release (.*)`)
)

// TestWorkflow: the workflow calls this program as it is, asks for bills of materials of all
// systems, and every action of every workflow is one commit, of which a comment tells the
// version.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	const dir = "../../.github/workflows/"
	names, err := filepath.Glob(dir + "*.yml")
	if err != nil || !slices.Contains(names, dir+"release.yml") {
		t.Fatalf("workflows %q, %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, action, uses := strings.Cut(line, "uses: "); uses && !pinned.MatchString(strings.TrimSpace(action)) {
				t.Errorf("%s: %s", filepath.Base(name), strings.TrimSpace(line))
			}
		}
	}
	text, err := os.ReadFile(dir + "release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Strategy    struct{ Matrix struct{ System []string } }
			Steps       []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, system := range systems {
		named = append(named, strings.ReplaceAll(system, "/", "_"))
	}
	if got := workflow.Jobs["sbom"].Strategy.Matrix.System; !slices.Equal(got, named) {
		t.Errorf("bills of materials of %q, a release is for %q", got, named)
	}
	if len(workflow.Permissions) > 0 || len(workflow.Jobs["build"].Permissions) != 1 || workflow.Jobs["build"].Permissions["contents"] != "read" {
		t.Error("the job that runs what others wrote has rights")
	}
	runs := 0
	for _, step := range workflow.Jobs["build"].Steps {
		m := released.FindStringSubmatch(step.Run)
		if m == nil {
			continue
		}
		runs++
		// a system that there is not ends it after the flags are read
		args := append([]string{"--systems", "none"}, strings.Fields(m[1])...)
		if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), `no release is made for "none"`) {
			t.Errorf("%s: %v", step.Run, err)
		}
	}
	if runs != 1 {
		t.Errorf("a release is made %d times on each machine", runs)
	}
}
