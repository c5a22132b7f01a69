package wordpress

import (
	"runtime"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

type fakeTB struct {
	testing.TB
	log strings.Builder
	failed bool
}
func (f *fakeTB) Helper() {}
func (f *fakeTB) Name() string {return "TestX"}
func (f *fakeTB) Failed() bool {return f.failed}
func (f *fakeTB) Logf(format string, args ...any) {fmt.Fprintf(&f.log, format+"\n", args...)}
func (f *fakeTB) Errorf(format string, args ...any) {f.failed=true; fmt.Fprintf(&f.log, format+"\n", args...)}
func (f *fakeTB) FailNow() {f.failed=true; runtime.Goexit()}
func (f *fakeTB) Fail() {f.failed=true}

func TestTry(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, bad := range map[string]func(r *grammar.Request) bool {
		"scheme": func(r *grammar.Request) bool { return strings.HasPrefix(r.Target, "foo:") },
		"fold": func(r *grammar.Request) bool { return strings.Contains(r.Body, "\x00x\r\n") },
		"blanks": func(r *grammar.Request) bool { return strings.Contains(r.Body, strings.Repeat("%20", 1000)) },
		"types": func(r *grammar.Request) bool { n:=0; for _, f := range r.Fields { if f.Name == "Content-Type" {n++}}; return n>1 && strings.Contains(r.Body,"rest_route") },
	} {
		start := time.Now()
		f := &fakeTB{TB: t}
		tries := 0
		var last *grammar.Request
		done := make(chan bool)
		go func() {
			defer close(done)
			rapid.Check(f, func(r *rapid.T) {
				tries++
				x := rapid.Custom(func(t *rapid.T) *grammar.Request { return grammar.From(drawn{t}).Request(&grammar.Aim{Route:"/canary/v1/t100000", Method:"GET", Base:"", Host:"h", Decoy:"/open"})}).Draw(r, "request")
				if bad(x) { last = x; r.Fatalf("bad") }
			})
		}()
		<-done
		t.Logf("%s: %d tries %s\n%s", name, tries, time.Since(start), last)
	}
}
