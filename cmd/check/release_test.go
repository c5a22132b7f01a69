package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const recipeDir = "../release/container"

// TestRecipe: the two files are read whole, and what they promise is what docs/install.md
// says how to run.
func TestRecipe(t *testing.T) {
	t.Parallel()
	r, err := readRecipe(recipeDir)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := r.bytes()
	if err != nil || memory != 1<<30 || r.user != "1000:1000" || !r.readOnly || r.files < 1<<14 ||
		!slices.Equal(r.capDrop, []string{"ALL"}) || !slices.Equal(r.security, []string{"no-new-privileges:true"}) {
		t.Errorf("%+v, %d bytes, %v", r, memory, err)
	}
	if r.program != "/usr/bin/caddy" || r.copied[r.program] != "caddy" || len(r.health) == 0 || r.health[0] != r.program {
		t.Errorf("program %q of %q, asked by %q", r.program, r.copied, r.health)
	}
	for _, volume := range r.volumes {
		if !slices.Contains(r.mounts, strings.TrimPrefix(volume, "/")+":"+volume) {
			t.Errorf("compose.yaml mounts nothing on %s", volume)
		}
	}
	for _, variable := range r.env {
		if _, dir, _ := strings.Cut(variable, "="); !slices.Contains(r.volumes, dir) {
			t.Errorf("%s: no volume, and the root is read-only", variable)
		}
	}
	page := documents(t)["docs/install.md"]
	line := "docker run --detach --name caddy \\\n\t" + strings.Join(r.flags(), " \\\n\t") + " \\\n\tcaddy-restwarden\n"
	if !strings.Contains(page, line) {
		t.Errorf("docs/install.md does not say:\n%s", line)
	}
}

// TestRecipe_Unknown: what the check would not try is an error.
func TestRecipe_Unknown(t *testing.T) {
	t.Parallel()
	image, err := os.ReadFile(filepath.Join(recipeDir, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	compose, err := os.ReadFile(filepath.Join(recipeDir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ old, changed, want string }{
		"another base":       {"FROM scratch", "FROM debian", "not from scratch"},
		"an instruction":     {"USER 1000:1000", "USER 1000:1000\nWORKDIR /srv", "does not know this instruction"},
		"two files":          {"COPY caddy ", "COPY caddy other ", "not one file"},
		"root in the image":  {"USER 1000:1000", "USER 0:0", `user "1000:1000" in compose.yaml, "0:0"`},
		"no list of a shell": {`HEALTHCHECK CMD ["/usr/bin/caddy", "restwarden", "status"]`, "HEALTHCHECK CMD caddy version", "invalid character"},
	} {
		dir := t.TempDir()
		changed := strings.Replace(string(image), "\n"+tt.old, "\n"+tt.changed, 1)
		for file, text := range map[string]string{"Containerfile": changed, "compose.yaml": string(compose)} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readRecipe(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestDifferent: what a package leaves is found, whatever the order of the lines.
func TestDifferent(t *testing.T) {
	t.Parallel()
	if lines := different("a\nb\nc", "c\na\nb"); len(lines) > 0 {
		t.Errorf("%q, want nothing", lines)
	}
	if got, want := different("a\nb", "b\nd"), []string{"- a", "+ d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
