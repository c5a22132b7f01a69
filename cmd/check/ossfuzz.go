package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

const (
	ossFuzzBuild = ".github/oss-fuzz/build.sh"
	// ossFuzzCrashes is where inputs that fail are left, below the directory for temporary files.
	ossFuzzCrashes = "restwarden-ossfuzz"
	// ossFuzzLimit bounds the build: everything is compiled anew, with counters.
	ossFuzzLimit = time.Hour
	// ossFuzzLeast is how long each target runs in a usual run.
	ossFuzzLeast = 10 * time.Second
)

// ossFuzzUsual are the folders whose targets a usual run builds. All of them take long: each package is compiled anew with counters.
var ossFuzzUsual = []string{"./policies/call/phpvars", "./policies/mcp", "./policies/signature"}

// ossFuzzPackages are what the build needs besides Go. OSS-Fuzz has a clang of its own.
var ossFuzzPackages = []machine.Package{
	{Name: "clang", Command: "clang++"},
	{Name: "libclang-rt-dev", File: "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a"},
	{Name: "zip", Command: "zip"},
}

// ossFuzz builds fuzz targets by the script that OSS-Fuzz runs, with Debian's clang, and runs each from its seeds. With --nightly
// these are all targets, which share that time.
func (c *check) ossFuzz(ctx context.Context) {
	start := time.Now()
	out, err := machine.Install(ctx, ossFuzzPackages)
	c.results.verdict("packages", time.Since(start), out, err)
	if err != nil {
		return
	}
	f, folders := ossFuzzer{fuzzer: fuzzer{check: c}}, ossFuzzUsual
	if c.nightly > 0 {
		folders = nil
	}
	if f.dir, err = os.MkdirTemp("", "restwarden-ossfuzz-"); err == nil {
		defer func() { _ = os.RemoveAll(f.dir) }()
		err = f.build(ctx, folders)
	}
	if err != nil {
		c.results.fail("build", err.Error())
		return
	}
	programs, err := filepath.Glob(filepath.Join(f.dir, "*_Fuzz*[^p]")) // but for the seeds, *.zip
	if err == nil && len(programs) == 0 {
		err = errors.New("no program was built")
	}
	if err != nil {
		c.results.fail("build", err.Error())
		return
	}
	f.long = max(ossFuzzLeast, c.nightly*time.Duration(runtime.GOMAXPROCS(0))/time.Duration(len(programs)))
	atOnce(programs, func(program string) {
		start := time.Now()
		out, err := f.try(ctx, program)
		f.mu.Lock()
		defer f.mu.Unlock()
		c.results.verdict(filepath.Base(program), time.Since(start), out, err)
	})
}

// ossFuzzer runs what was built into dir.
type ossFuzzer struct {
	fuzzer
	long time.Duration // each runs at most
}

// build builds the targets of folders, or all.
func (f *ossFuzzer) build(ctx context.Context, folders []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, ossFuzzLimit, fmt.Errorf("it took longer than %s", ossFuzzLimit))
	defer cancel()
	env := []string{"OUT=" + f.dir, "CXX=clang++", "CXXFLAGS=-fsanitize=address", "LIB_FUZZING_ENGINE=-fsanitize=fuzzer"}
	out, err := machine.Run(ctx, f.root, env, filepath.Join(f.root, ossFuzzBuild), folders...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// try runs one program from its seeds. A target without seeds is a failure.
func (f *ossFuzzer) try(ctx context.Context, program string) (string, error) {
	seeds, err := zip.OpenReader(program + "_seed_corpus.zip")
	if err != nil {
		return "", err
	}
	defer func() { _ = seeds.Close() }()
	corpus, crashes := program+"_corpus", filepath.Join(os.TempDir(), ossFuzzCrashes)
	if err = errors.Join(os.CopyFS(corpus, seeds), os.MkdirAll(crashes, 0o700)); err != nil {
		return "", err
	}
	out, err := output(ctx, f.long+toolLimit, f.dir, program, fmt.Sprintf("-max_total_time=%.0f", f.long.Seconds()), "-artifact_prefix="+crashes+"/", corpus)
	if err == nil && !strings.Contains(out, "Done ") {
		err = errors.New("it did not come to its end")
	}
	return out, err
}
