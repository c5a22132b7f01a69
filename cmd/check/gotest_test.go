package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTestRun(t *testing.T) { //nolint:funlen // a table of streams of events
	t.Parallel()
	failed := errors.New("exit status 1")
	for name, tt := range map[string]struct {
		events   string
		err      error
		passed   int
		failures []string // parts of what is reported, in order
	}{
		"tests and subtests count": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			passed: 2,
		},
		"a package without tests is nothing": {
			events: `{"Action":"skip","Package":"empty"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			passed: 1,
		},
		"checks of a test count": {
			events: `{"Action":"attr","Package":"p","Test":"TestA","Key":"checks","Value":"40"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			passed: 41,
		},
		"checks that passed in a test that failed count": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"because\n"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"checks","Value":"40"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"other","Value":"7"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			err: failed, passed: 40, failures: []string{"because"},
		},
		"a failure carries its output": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"because\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			err: failed, failures: []string{"because"},
		},
		"a skipped test is a failure": {
			events: `{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			failures: []string{"skipped"},
		},
		"a package that does not build": {
			events: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			err: failed, failures: []string{"undefined: x"},
		},
		"a test that a panic cut off": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"p"}`,
			err: failed, failures: []string{"did not finish\npanic: test timed out"},
		},
		"a failure outside of any test": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"goroutine leak\n"}
{"Action":"fail","Package":"p"}`,
			err: failed, passed: 1, failures: []string{"goroutine leak"},
		},
		"a benchmark passes with its package": {
			events: `{"Action":"run","Package":"p","Test":"BenchmarkA"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"BenchmarkA-2   \t       3\t     11 calls/s\n"}
{"Action":"pass","Package":"p"}`,
			passed: 1,
		},
		"a benchmark that fails": {
			events: `{"Action":"run","Package":"p","Test":"BenchmarkA"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"because\n"}
{"Action":"fail","Package":"p","Test":"BenchmarkA"}
{"Action":"fail","Package":"p"}`,
			err: failed, failures: []string{"because"},
		},
		"a benchmark that a panic cut off": {
			events: `{"Action":"run","Package":"p","Test":"BenchmarkA"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"panic\n"}
{"Action":"fail","Package":"p"}`,
			err: failed, failures: []string{"did not finish\npanic"},
		},
		"go test itself fails": {
			events: "go: no such module\n", err: failed, failures: []string{"no such module"},
		},
		"nothing ran": {failures: []string{"no test ran"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := results{out: io.Discard}
			run := newTestRun(&r)
			run.read(strings.NewReader(tt.events))
			run.finish(tt.err)
			if r.passed != tt.passed {
				t.Errorf("%d passed, want %d", r.passed, tt.passed)
			}
			if len(r.failures) != len(tt.failures) {
				t.Fatalf("failures %q, want %q", r.failures, tt.failures)
			}
			for i, want := range tt.failures {
				if !strings.Contains(r.failures[i].output, want) {
					t.Errorf("failure %q does not say %q", r.failures[i].output, want)
				}
			}
		})
	}
}

// TestFigures: the result of a benchmark is shown, not what it logs or its name.
func TestFigures(t *testing.T) {
	t.Parallel()
	output := "=== RUN   BenchmarkA\n    a_test.go:7: up\nBenchmarkA-2   \t      10\t     11432 a/s\t        95.60 b/s\n"
	if got, want := figures(output), "\n        11432 a/s 95.60 b/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNotes: what a test logs is shown, not what go test says of it.
func TestNotes(t *testing.T) {
	t.Parallel()
	output := "=== RUN   TestA\n    a_test.go:7: 20 requests\n=== ATTR  TestA checks 40\n        a_test.go:8:     19 page\n--- PASS: TestA (0.1s)\n"
	if got, want := notes(output), "\n        20 requests\n        19 page"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
