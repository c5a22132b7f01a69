package drift

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/index"
)

func TestCompare(t *testing.T) {
	name := rapid.SampledFrom([]string{"/a", "/a/:id", "/b", "/c/*", "/d", "/e"})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) []string {
			names := rapid.SliceOf(name).Draw(t, label)
			slices.Sort(names)
			return slices.Compact(names)
		}
		before, after := draw("before"), draw("after")
		added, removed := Compare(before, after)
		for _, n := range []string{"/a", "/a/:id", "/b", "/c/*", "/d", "/e"} {
			was, is := slices.Contains(before, n), slices.Contains(after, n)
			if slices.Contains(added, n) != (is && !was) || slices.Contains(removed, n) != (was && !is) {
				t.Fatalf("%s: before %q, after %q, added %q, removed %q", n, before, after, added, removed)
			}
		}
		if !slices.IsSorted(added) || !slices.IsSorted(removed) {
			t.Fatalf("added %q, removed %q", added, removed)
		}
	})
}

// site is the index of a usual site.
func site(n int) *index.Index {
	var routes []string
	for i := range n {
		routes = append(routes, fmt.Sprintf(`/plugin-%d/v1/entries-%d/(?P<id>[\d]+)`, i%12, i))
	}
	return index.New(routes, nil)
}

func TestPack(t *testing.T) {
	for _, n := range []int{1, 800, 10_000} {
		x := site(n)
		value, ok := Pack(x)
		if !ok || !Same(value, x) || Same(value, site(n+1)) && n < 10_000 {
			t.Fatalf("%d routes: ok %t", n, ok)
		}
		names, err := Unpack(value)
		if err != nil || !slices.Equal(names, x.Names()) {
			t.Errorf("%d routes: %d names, %v", n, len(names), err)
		}
		t.Logf("%d routes: %d bytes", n, len(value))
		if n == 800 && len(value) > 8<<10 {
			t.Errorf("%d bytes for a usual site", len(value))
		}
	}
	if _, ok := Pack(index.New(nil, nil)); ok {
		t.Error("no routes are packed")
	}
	var random []string
	for range 10_000 {
		b := []byte("/")
		for range 150 {
			b = append(b, byte('a'+rand.IntN(26)))
		}
		random = append(random, string(b))
	}
	if value, ok := Pack(index.New(random, nil)); ok {
		t.Errorf("a value of %d bytes is kept", len(value))
	}
}

// sealed packs a text that Pack would not make, with the digest of its lines.
func sealed(text string) string {
	digest := index.DigestOf(strings.Split(text, "\n"))
	b := bytes.NewBuffer(digest[:])
	w, _ := flate.NewWriter(b, flate.BestSpeed)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func TestUnpack_Garbage(t *testing.T) {
	good, _ := Pack(site(3))
	bomb := sealed(strings.Repeat("a", 64<<20))
	for name, value := range map[string]string{
		"nothing": "", "text": "garbage", "zeros": strings.Repeat("\x00", 100), "cut": good[:len(good)-1], "more": good + "x",
		"another digest": "x" + good[1:], "not sorted": sealed("/b\n/a"), "twice": sealed("/a\n/a"), "no names": sealed(""), "an empty name": sealed("\n/a"),
		"control": sealed("/a\x1b[31m"), "not a name": sealed("/a b"), "a bomb": bomb, "many": sealed(strings.Repeat("/a\n", maxNames+1)),
		"large": good + strings.Repeat("x", maxValue),
	} {
		if names, err := Unpack(value); err == nil {
			t.Errorf("%s: %q", name, names)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = Unpack(bomb)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*maxText {
		t.Errorf("%d bytes are allocated for a bomb", n)
	}
}

// FuzzUnpack: a value is one that Pack can have made, or garbage.
func FuzzUnpack(f *testing.F) {
	good, _ := Pack(site(5))
	seeds := []string{good, "", "garbage", good[:40], good + " ", sealed("/a\n/b"), sealed("/b\n/a"), sealed("/a\x00")}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, value := range seeds {
		f.Add(value, value)
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		for _, value := range []string{value, sealed(text)} {
			names, err := Unpack(value)
			if err != nil {
				continue
			}
			if len(names) == 0 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || slices.ContainsFunc(names, func(n string) bool { return !index.IsName(n) }) {
				t.Fatalf("%q", names)
			}
			again, ok := pack(names, index.DigestOf(names))
			if got, err := Unpack(again); !ok || err != nil || !slices.Equal(got, names) {
				t.Fatalf("%q becomes %q, %v", names, got, err)
			}
		}
	})
}
