package phpvars

import (
	"strings"
	"testing"
)

// FuzzCompleted: what is not completed means the same to PHP once a server has decoded letters,
// digits and "-._~".
func FuzzCompleted(f *testing.F) {
	for raw, completed := range map[string]bool{
		"a=%%32%66": true, "%2%66": true, "%%32f": true, "%%%32%66": true, "%%3%32": true,
		"%32%66": false, "50%": false, "%%20x": false, "%25%32%66": false, "%g%32%66": false, "100%&b=%66%66": false, "%c3%a9%41": false,
	} {
		if Completed(raw) != completed {
			f.Errorf("%s: %t", raw, !completed)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if plain := Unreserved(raw); !Completed(raw) && Decode(plain) != Decode(raw) {
			t.Errorf("%q becomes %q", raw, plain)
		}
	})
}

// FuzzUsual: Usual is what decoding and folding make of a text in the end.
func FuzzUsual(f *testing.F) {
	for _, raw := range []string{"%3%35", "%%36%35", "%%%36%34%35", "a%2541%2F", "REST_ROUT%6%35", "%4%41", "%%335", "%", "%%", "%7e%7E"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		want := raw
		for before := ""; want != before; {
			before, want = want, Lower(Unreserved(want))
		}
		if got := Usual(raw); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	})
}

// TestUsual_OnePass: escapes of escapes are not decoded one after the other.
func TestUsual_OnePass(t *testing.T) {
	raw := strings.Repeat("%3", 10_000) + "5"
	if n := testing.AllocsPerRun(1, func() { Usual(raw) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
