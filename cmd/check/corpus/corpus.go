// Package corpus keeps what generators of the checks have found: in the repository
// what every run tries again, and in the directory for temporary files what a run
// has found, in the same form.
package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrEmpty is returned where there is nothing to try again: a check of nothing would
// pass.
var ErrEmpty = errors.New("the corpus is empty")

// Read returns what the files hold, each a T in JSON.
func Read[T any](files fs.FS) (list []T, err error) {
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, v)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = ErrEmpty
	}
	return list, err
}

// Keep writes v to a file of its own, named by pattern as os.CreateTemp does, and
// returns where, or why not.
func Keep(pattern string, v any) string {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err.Error()
	}
	dir := filepath.Join(os.TempDir(), "restwarden-finds")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err.Error()
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return err.Error()
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	return f.Name()
}
