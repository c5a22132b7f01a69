package wordpress

import (
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// recorder takes what rapid says of a property that fails, in place of a test.
type recorder struct {
	testing.TB
	failed bool
	log    strings.Builder
}

func (r *recorder) Name() string { return "TestPlanted" }
func (r *recorder) Failed() bool { return r.failed }
func (r *recorder) Fail()        { r.failed = true }

func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.log, format+"\n", args...) }

func (r *recorder) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	r.Fail()
}

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

// planted runs a property that is to fail, and returns what rapid says of it.
func planted(t *testing.T, seed uint64, prop func(*rapid.T)) string {
	t.Helper()
	r, done := &recorder{TB: t}, make(chan struct{})
	go func() { // which FailNow ends
		defer close(done)
		property(r, seed, 20_000, prop)
	}()
	<-done
	if !r.failed {
		t.Fatal("the fault is not found")
	}
	return r.log.String()
}

// faults are gateways that would let requests of one kind pass, and the smallest requests
// of that kind: none of them can be made smaller by one choice.
var faults = map[string]struct {
	passes   func(*grammar.Request) bool
	smallest []string
}{
	"a target with a scheme": {
		func(r *grammar.Request) bool { return strings.HasPrefix(r.Target, "foo:") },
		[]string{
			`GET "foo:wp-json/canary" (path; target: scheme)` + "\n0 bytes: \"\"",
			`GET "foo:/wp-json/canary" (path; target: scheme and slash)` + "\n0 bytes: \"\"",
		},
	},
	"two content types over a form": {
		func(r *grammar.Request) bool {
			types := 0
			for _, f := range r.Fields {
				if f.Name == "Content-Type" {
					types++
				}
			}
			return types == 2 && strings.HasPrefix(r.Body, "rest_route=/canary")
		},
		[]string{`POST "/?_method=GET" (form; _method; Content-Type: twice)` +
			"\n\"Content-Type\": \"application/x-www-form-urlencoded\"" +
			"\n\"Content-Type\": \"application/x-www-form-urlencoded\"" +
			"\n\"Content-Length\": \"18\"\n18 bytes: \"rest_route=/canary\""},
	},
	"a folded header in a part": {
		func(r *grammar.Request) bool { return strings.Contains(r.Body, "\x00x\r\n") },
		[]string{
			`POST "/" (multipart; X-HTTP-Method-Override; a folded header in a part: "\x00x\r\n")` + "\n\"X-HTTP-Method-Override\": \"GET\"" + folded,
			`POST "/?_method=GET" (multipart; _method; a folded header in a part: "\x00x\r\n")` + folded,
		},
	},
}

const folded = "\n\"Content-Type\": \"multipart/form-data; boundary=a\"" +
	"\n\"Content-Length\": \"78\"" +
	"\n78 bytes: \"--a\\r\\nContent-Disposition:\\x00x\\r\\n form-data; name=\\\"rest_route\\\"\\r\\n\\r\\n/canary\\r\\n--a--\\r\\n\""

// TestShrink plants a fault: a random request that shows it is shrunk to the smallest one
// that does, and the file that rapid leaves shows that one again at once.
func TestShrink(t *testing.T) {
	aim := &grammar.Aim{Route: "/canary", Method: "GET", Host: "127.0.0.1:80", Decoy: "/open"}
	requests := rapid.Custom(func(t *rapid.T) *grammar.Request { return grammar.From(drawn{t}).Request(aim) })
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			keepRapidFlags(t)
			var last *grammar.Request
			tries := 0
			prop := func(r *rapid.T) {
				tries++
				if x := requests.Draw(r, "request"); fault.passes(x) {
					last = x
					r.Fatalf("it passes")
				}
			}
			said := planted(t, 1, prop)
			smallest := last.String()
			if !slices.Contains(fault.smallest, smallest) {
				t.Errorf("shrunk to\n%s\nnot to\n%s", smallest, fault.smallest)
			}
			left, err := filepath.Glob("testdata/rapid/TestPlanted/*.fail")
			if err != nil || len(left) != 1 || !strings.Contains(said, left[0]) || !strings.Contains(said, "-rapid.seed=") {
				t.Fatalf("%q is left, %v; it says how to replay it as\n%s", left, err, said)
			}
			tries, last = 0, nil
			planted(t, 2, prop)
			if tries > 4 || last.String() != smallest {
				t.Errorf("replayed after %d tries: %s", tries, last)
			}
		})
	}
}

// TestShrinkMessage is the same for the requests of the differential.
func TestShrinkMessage(t *testing.T) {
	t.Chdir(t.TempDir())
	keepRapidFlags(t)
	var last string
	planted(t, 1, func(r *rapid.T) {
		m := messages(testSite).Draw(r, "request")
		if strings.Contains(m.target, "rest.route=") {
			last = fmt.Sprintf("%s %s %q %q %s", m.method, m.target, m.headers, m.body, m.as)
			r.Fatalf("it passes")
		}
	})
	if want := `GET /?rest.route=/wc/v1/orders/101 [] "" `; last != want {
		t.Errorf("shrunk to %q, not to %q", last, want)
	}
}

// keepRapidFlags puts back rapid's flags at the end of a test.
func keepRapidFlags(t *testing.T) {
	t.Helper()
	for _, name := range []string{"rapid.seed", "rapid.checks"} {
		was := flag.Lookup(name).Value.String()
		t.Cleanup(func() {
			if err := flag.Set(name, was); err != nil {
				t.Error(err)
			}
		})
	}
}
