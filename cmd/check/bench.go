package main

import (
	"context"
	"regexp"
	"time"
)

var benchmarkLine = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s.*ns/op`)

// bench runs every benchmark once, to test that they run. It does not judge their speed,
// which depends on the machine.
func (c *check) bench(ctx context.Context) {
	start := time.Now()
	out, err := output(ctx, testRunLimit, c.root, "go", "test", "-run=^$", "-bench=.", "-benchtime=1x", "./...")
	n := len(benchmarkLine.FindAllString(out, -1))
	if err != nil || n == 0 {
		c.results.fail("benchmarks", out+"\n"+errorText(err, "no benchmark ran"))
		return
	}
	c.results.pass(n)
	c.results.progress("   ok   %d benchmarks (%s)", n, rounded(time.Since(start)))
}

func errorText(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	return err.Error()
}
