// Command release makes all files of a release from the clone that it runs in: for each
// system a program without C, an archive, and a bill of materials (SBOM), Debian packages for
// Linux, what is known of vulnerabilities (VEX), and the sums of them all.
//
//	go run ./cmd/release DIR                          for all systems
//	go run ./cmd/release --systems linux/amd64 DIR    for one
//	go run ./cmd/release --version v1.2.3 DIR         only if the clone is at that tag, and CHANGELOG.md has a section of it
//	go run ./cmd/release --sign DIR                   signs the sums in DIR with the key in MINISIGN_SECRET_KEY
//	go run ./cmd/release --notes v1.2.3               prints what CHANGELOG.md says of it
//
// Two clones of a commit give the same bytes, with the same Go and dpkg: every time is that
// of the commit, and no path of the machine gets into a file. The version is the one that Go
// reads from the tags: that of a tag, or one made of time and hash of the commit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// systems are those that a release is for.
var systems = []string{"linux/amd64", "windows/amd64", "linux/arm64", "freebsd/amd64", "darwin/arm64"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// run makes the release that args ask for, and prints the names of its files.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(out)
	version := flags.String("version", "", "stop unless the clone has this version, as v1.2.3")
	list := flags.String("systems", strings.Join(systems, ","), "comma-separated systems to build for")
	signs := flags.Bool("sign", false, "sign the sums of the release in DIR, with the key in "+secretKeyVariable)
	about := flags.String("notes", "", "print what CHANGELOG.md says of this version, as v1.2.3, and make nothing")
	flags.Usage = func() {
		_, _ = fmt.Fprintln(out, "Usage: go run ./cmd/release [flags] DIR")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *about != "" {
		return printNotes(ctx, *about, out)
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%d arguments, want the directory for the files", flags.NArg())
	}
	if *signs {
		return signIn(ctx, flags.Arg(0))
	}
	return makeIn(ctx, &release{want: *version, out: out}, *list, flags.Arg(0))
}

// makeIn makes the release in the directory to, for the systems of a list.
func makeIn(ctx context.Context, r *release, list, to string) error {
	selected := strings.Split(list, ",")
	for _, system := range selected {
		if !slices.Contains(systems, system) {
			return fmt.Errorf("no release is made for %q, but for %s", system, strings.Join(systems, ", "))
		}
	}
	var err error
	if r.dir, err = emptyDir(to); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "restwarden-release-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.work) }()
	return r.make(ctx, selected)
}

// signIn signs the sums of the release in dir.
func signIn(ctx context.Context, dir string) error {
	root, err := clone(ctx)
	if err != nil {
		return err
	}
	return sign(root, dir)
}

// printNotes prints the notes of a version.
func printNotes(ctx context.Context, version string, out io.Writer) error {
	root, err := clone(ctx)
	if err != nil {
		return err
	}
	text, err := notes(root, version)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// emptyDir returns the whole path of a directory that is new or empty: SHA256SUMS speaks of
// all that is in it.
func emptyDir(name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others may read a release
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return dir, err
}
