package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// environment is that of the go command for a system: nothing of the machine's own settings
// changes what is built.
func environment(system string) []string {
	goos, goarch, _ := strings.Cut(system, "/")
	return []string{
		"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0",
		// not empty: then go would take those of its own file
		"GOFLAGS=-trimpath", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off",
	}
}

// here is the system that this program runs on.
const here = runtime.GOOS + "/" + runtime.GOARCH

// build builds Caddy for a system, and holds that it has the version of the release: the
// first program says which that is.
func (r *release) build(ctx context.Context, system string) (string, error) {
	program := filepath.Join(r.work, strings.ReplaceAll(system, "/", "-"))
	_, err := command(ctx, r.root, environment(system), "go", "build",
		"-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/caddy")
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	switch version := info.Main.Version; {
	case r.want != "" && version != r.want:
		return "", fmt.Errorf("what is built has version %s, not %s: is the tag at this commit, and nothing changed since?", version, r.want)
	case r.version != "" && version != r.version:
		return "", fmt.Errorf("version %s, and %s before: the clone has changed", version, r.version)
	default:
		r.version = version
		return program, nil
	}
}

// hostProgram is a Caddy that runs here, for what Caddy itself writes.
func (r *release) hostProgram(ctx context.Context) (string, error) { return r.build(ctx, here) }

// manualPages returns the directory with the pages of "caddy restwarden": Debian's caddy has
// the others.
func (r *release) manualPages(ctx context.Context) (string, error) {
	if r.manuals != "" {
		return r.manuals, nil
	}
	program, err := r.hostProgram(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(r.work, "man")
	if _, err := command(ctx, r.work, r.clock(), program, "manpage", "--directory", dir); err != nil {
		return "", err
	}
	r.manuals = dir
	return dir, nil
}

// clock is the time of the release as tools read it from the environment,
// https://reproducible-builds.org/docs/source-date-epoch/, and the zone in which it has its
// date.
func (r *release) clock() []string {
	return []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10), "TZ=UTC"}
}

// cyclonedx is pinned: another version writes another file.
const cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// billOfMaterials writes the SBOM of a program, from what the program says that it is built
// of. It holds sums of the tool too, which is therefore built without paths as well.
func (r *release) billOfMaterials(ctx context.Context, program, to string) error {
	_, err := command(ctx, r.work, environment(here), "go", "run", "-trimpath", "-buildvcs=false", cyclonedx,
		"bin", "-json", "-std", "-noserial", "-notimestamp", "-version", r.version, "-output", to, program)
	return err
}
