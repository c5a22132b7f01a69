package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// measure runs the tests that are not built with the race detector (//go:build !race): they measure
// memory, or compare much one after another, and would only be slow with it.
func (c *check) measure(ctx context.Context) {
	packages, tests, err := c.raceless(ctx)
	if err == nil && len(tests) == 0 {
		err = errors.New("no test is built without the race detector alone")
	}
	if err != nil {
		c.results.fail("measure", err.Error())
		return
	}
	args := []string{"-shuffle=on", "-timeout=" + (testLimit + c.nightly).String(), "-run=^(" + strings.Join(tests, "|") + ")$"}
	run := c.goTestWith(ctx, &c.results, testRunLimit+c.nightly, c.nightlyEnv(), append(args, packages...)...)
	for _, test := range tests {
		if len(run.failed) == 0 && !slices.ContainsFunc(run.passed, func(id testID) bool { return id.test == test }) {
			c.results.fail("measure", test+" did not run")
		}
	}
}

var declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)

// raceless returns the tests that builds with the race detector leave out, and their packages.
func (c *check) raceless(ctx context.Context) (packages, tests []string, err error) {
	all, err := c.testFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	with, err := c.testFiles(ctx, "-race")
	if err != nil {
		return nil, nil, err
	}
	for _, file := range all {
		if slices.Contains(with, file) {
			continue
		}
		text, err := os.ReadFile(file.path)
		if err != nil {
			return nil, nil, err
		}
		for _, match := range declaredTest.FindAllStringSubmatch(string(text), -1) {
			tests = append(tests, match[1])
			packages = append(packages, file.pkg)
		}
	}
	return slices.Compact(packages), tests, nil
}

// testFile is a file of tests of a package.
type testFile struct{ pkg, path string }

// testFiles returns all files of tests that go test builds with flags, package by package.
func (c *check) testFiles(ctx context.Context, flags ...string) (all []testFile, err error) {
	const list = `{{$pkg := .ImportPath}}{{$dir := .Dir}}{{range .TestGoFiles}}{{$pkg}} {{$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$pkg}} {{$dir}}/{{.}}{{"\n"}}{{end}}`
	out, err := output(ctx, toolLimit, c.root, "go", slices.Concat([]string{"list"}, flags, []string{"-f", list, "./..."})...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		pkg, path, found := strings.Cut(strings.TrimSpace(line), " ")
		if found {
			all = append(all, testFile{pkg, path})
		}
	}
	return all, nil
}
