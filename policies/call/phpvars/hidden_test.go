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
	if n := testing.AllocsPerRun(10, func() { Usual(raw) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzMayResemble: what a key does not resemble by its first bytes, it does not become.
func FuzzMayResemble(f *testing.F) {
	for _, key := range []string{"_%6dethod", "%%35fmethod", "+%2b _METHOD", "%5Fmethod%5ba", "_method%3da", "_method%00a", "%%%33%36d", "_%%4%%4"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		key, _, _ = strings.Cut(key, "=")
		decoded, _, _ := strings.Cut(Lower(Decode(Decode(Usual(key)))), "=")
		for _, name := range []string{"_method", "a", "a_b", "id", "_"} {
			if (foldDecoded(decoded, name) || fold(key, name) != other) && !mayResemble(key, name) {
				t.Errorf("%q becomes %s", key, name)
			}
		}
	})
}

// TestMayResemble_All goes through all short keys of what decides.
func TestMayResemble_All(t *testing.T) {
	t.Parallel()
	const bytes = "%%5f6DA+=[\x00" // "_" is 5f, "m" is 6D
	key := make([]byte, 6)
	var more func(n int)
	more = func(n int) {
		decoded, _, _ := strings.Cut(Lower(Decode(Decode(Usual(string(key[:n]))))), "=")
		for _, name := range []string{"_", "m", "_m", "fa"} {
			if (foldDecoded(decoded, name) || fold(string(key[:n]), name) != other) && !mayResemble(string(key[:n]), name) {
				t.Errorf("%q becomes %s", key[:n], name)
			}
		}
		for i := 1; n < len(key) && i < len(bytes); i++ {
			key[n] = bytes[i]
			more(n + 1)
		}
	}
	more(0)
}
