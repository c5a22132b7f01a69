package workflow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// actions play what an action does with files. with are its inputs.
var actions = map[string]func(r *run, ctx context.Context, with map[string]string) error{
	"actions/checkout":          (*run).checkout,
	"actions/setup-go":          func(*run, context.Context, map[string]string) error { return nil }, // this machine's Go
	"actions/upload-artifact":   (*run).upload,
	"actions/download-artifact": (*run).download,
	"actions/attest":            (*run).attest,
}

// act plays an action.
func (r *run) act(ctx context.Context, name string, with map[string]string) error {
	play, known := actions[name]
	if !known {
		return fmt.Errorf("nobody here plays %s", name)
	}
	return play(r, ctx, with)
}

// below is a path of an input in the workspace.
func (r *run) below(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.workspace, path)
}

func (r *run) checkout(ctx context.Context, with map[string]string) error {
	args := []string{"clone", "--quiet", "--branch", r.Tag, "--config", "advice.detachedHead=false"}
	out, err := r.Command(ctx, r.workspace, nil, "git", append(args, r.Source, r.below(with["path"]))...)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}

func (r *run) upload(_ context.Context, with map[string]string) error {
	from := os.DirFS(r.below(with["path"]))
	to := filepath.Join(r.artifacts(), with["name"])
	if _, err := os.Stat(to); err == nil || with["name"] == "" {
		return fmt.Errorf("there is an artifact %q already", with["name"])
	}
	if err := os.CopyFS(to, from); err != nil {
		return fmt.Errorf("%s: %w", with["path"], err)
	}
	entries, err := os.ReadDir(to)
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%s has no files", with["path"])
	}
	return err
}

// download puts one artifact into the workspace, or all, each into a directory of its name.
func (r *run) download(_ context.Context, with map[string]string) error {
	err := os.CopyFS(r.below(with["path"]), os.DirFS(filepath.Join(r.artifacts(), with["name"])))
	if err != nil {
		err = fmt.Errorf("artifact %q: %w", with["name"], err)
	}
	return err
}

// attest holds that there is what shall be stated something about.
func (r *run) attest(_ context.Context, with map[string]string) error {
	if bill, named := with["sbom-path"]; named {
		if err := filled(r.below(bill)); err != nil {
			return fmt.Errorf("sbom-path: %w", err)
		}
	}
	if sums := with["subject-checksums"]; sums != "" {
		if err := filled(r.below(sums)); err != nil {
			return fmt.Errorf("subject-checksums: %w", err)
		}
		return nil
	}
	found := 0
	for pattern := range strings.FieldsSeq(with["subject-path"]) {
		paths, err := filepath.Glob(r.below(pattern))
		if err != nil {
			return err
		}
		found += len(paths)
	}
	if found == 0 {
		return fmt.Errorf("there is no subject: %v", with)
	}
	return nil
}

// filled is nil for a file that has something in it.
func filled(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Size() == 0) {
		err = fmt.Errorf("%s is no file, or empty", path)
	}
	return err
}
