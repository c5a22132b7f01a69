package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release is one that is being made.
type release struct {
	dir, work, root string
	out             io.Writer
	want            string // the version that it must have, or empty
	time            time.Time
	version         string // "v1.2.3"
	licenses        []byte // of all modules that are in the programs
	manuals         string // the directory with the pages of "caddy restwarden"
}

// make writes all files of a release, and their sums last.
func (r *release) make(ctx context.Context, systems []string) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	for _, system := range systems {
		if err := r.makeFor(ctx, system); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	if err := r.vulnerabilities(); err != nil {
		return err
	}
	return r.sum()
}

// begin finds out what is the same for all systems.
func (r *release) begin(ctx context.Context) error {
	var err error
	if r.root, err = clone(ctx); err != nil {
		return err
	}
	if r.want != "" {
		if _, err := notes(r.root, r.want); err != nil {
			return err
		}
	}
	seconds, err := command(ctx, r.root, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return err
	}
	r.time = time.Unix(n, 0).UTC()
	r.licenses, err = r.collectLicenses(ctx)
	return err
}

// clone is the root of the clone of the repository that this program runs in.
func clone(ctx context.Context) (string, error) {
	root, err := command(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("a release is made in a clone of the repository: %w", err)
	}
	return strings.TrimSpace(root), nil
}

// makeFor writes the files for one system.
func (r *release) makeFor(ctx context.Context, system string) error {
	program, err := r.build(ctx, system)
	if err != nil {
		return err
	}
	base := r.base(system)
	if err := r.billOfMaterials(ctx, program, filepath.Join(r.dir, base+".cdx.json")); err != nil {
		return err
	}
	goos, goarch, _ := strings.Cut(system, "/")
	files, err := r.archived(goos, program)
	if err != nil {
		return err
	}
	write, ending := writeTar, ".tar.gz"
	if goos == "windows" {
		write, ending = writeZip, ".zip"
	}
	if err := write(filepath.Join(r.dir, base+ending), base, files, r.time); err != nil {
		return err
	}
	if goos != "linux" {
		return nil
	}
	return r.debianPackage(ctx, goarch, program)
}

// base is what the names of the files for a system begin with.
func (r *release) base(system string) string {
	return "restwarden_" + strings.TrimPrefix(r.version, "v") + "_" + strings.ReplaceAll(system, "/", "_")
}

// archived are the files of an archive. On Linux it is also what a container is built from.
func (r *release) archived(goos, program string) ([]file, error) {
	name := "caddy"
	if goos == "windows" {
		name += ".exe"
	}
	text, err := os.ReadFile(program) //nolint:gosec // just built
	if err != nil {
		return nil, err
	}
	files := []file{{name: name, text: text, mode: 0o755}, {name: "THIRD-PARTY-LICENSES", text: r.licenses, mode: 0o644}}
	from := []string{"LICENSE", "Caddyfile.example"}
	if goos == "linux" {
		from = append(from, "cmd/release/container/Containerfile", "cmd/release/container/compose.yaml")
	}
	for _, path := range from {
		text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: filepath.Base(path), text: text, mode: 0o644})
	}
	return files, nil
}

// sum writes the sums of all files, as sha256sum -c reads them.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		text, err := fs.ReadFile(os.DirFS(r.dir), e.Name())
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	if _, err := r.out.Write(sums.Bytes()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, sumsFile), sums.Bytes(), 0o644) //nolint:gosec // for everybody
}

// command runs a program of the machine in a directory and returns what it prints. What it
// says about an error becomes part of the error.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the programs are named here
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, ended.Stderr)
	}
	return string(out), err
}
