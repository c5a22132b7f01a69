package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestSecretOf_Race: of several processes that start at one time, all have the secret that is
// in the file.
func TestSecretOf_Race(t *testing.T) {
	t.Parallel()
	for range 50 {
		dir := t.TempDir()
		file := filepath.Join(dir, "key")
		var secrets [8][]byte
		var group sync.WaitGroup
		for i := range secrets {
			group.Go(func() {
				var err error
				if secrets[i], err = command.SecretOf(file); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, secret := range secrets {
			if len(secret) < 32 || !bytes.Equal(secret, secrets[0]) {
				t.Fatalf("%q", secrets)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Fatalf("%v, %v", left, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
	}
}

// TestSecretOf_OddFiles: a secret is made through no link, and none is taken of a file that
// is too short, too long or none.
func TestSecretOf_OddFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte{0xff}, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link, file("empty", 0), file("short", 31), file("huge", 1<<20), "/dev/zero"} {
		if secret, err := command.SecretOf(path); err == nil {
			t.Errorf("%s: %d bytes", path, len(secret))
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("the secret was written through a link")
	}
	if secret, err := command.SecretOf(file("binary", 32)); err != nil || len(secret) != 32 {
		t.Errorf("%d bytes, %v", len(secret), err)
	}
}
