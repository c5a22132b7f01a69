package keyset_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/keyset"
)

// alphabet are the segments of the keys that are tried out; no pattern has the last three.
var alphabet = []string{"a", "b", "wc", "store", "v1", "zz", "wc-zz", "1"}

// keys are all keys of up to four segments of the alphabet.
var keys = func() []string {
	all, longest := []string{"/"}, []string{""}
	for range 4 {
		var next []string
		for _, key := range longest {
			for _, s := range alphabet {
				if possible(key + "/" + s) {
					next = append(next, key+"/"+s)
				}
			}
		}
		all, longest = append(all, next...), next
	}
	return all
}()

// possible tells whether the reader of calls makes such a key: the old address of the checkout
// API gets its version.
func possible(key string) bool {
	return !strings.HasPrefix(key, "/wc/store/") || strings.HasPrefix(key+"/", "/wc/store/v1/")
}

var drawn = rapid.Custom(func(t *rapid.T) string {
	segments := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "wc", "store", "v1", "*", ":id"}), 0, 3).Draw(t, "segments")
	if rapid.Bool().Draw(t, "rest") {
		segments = append(segments, "**")
	}
	return "/" + strings.Join(segments, "/")
})

// matching returns the numbers of the patterns that match a key.
func matching(patterns []routes.Pattern, key string) (numbers []int) {
	for i, p := range patterns {
		if p.Match(key) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// regions walks a space and returns a key for each set of patterns that matches one of its
// keys. Every place has to say of its own key what the patterns say themselves.
func regions(t interface{ Fatalf(string, ...any) }, word string, space routes.Pattern, patterns []routes.Pattern) (map[string]string, error) {
	a := keyset.New(word)
	for i, p := range patterns {
		a.Add(p, i)
	}
	found := map[string]string{}
	err := a.Walk(keyset.KeysOf(space), nil, func(p *keyset.Place) bool {
		key := p.Key()
		got, want := p.State.Matches(), matching(patterns, key)
		if !slices.Equal(got, want) || !space.Match(key) || !possible(key) || p.Route() != key {
			t.Fatalf("%s at %s: matched by %v, in truth by %v", space, key, got, want)
		}
		found[region(word, key, want)] = key
		return true
	})
	return found, err
}

// region names what is told apart of a key.
func region(word, key string, matching []int) string {
	inside := word != "" && (strings.HasPrefix(key+"/", "/"+word+"/") || strings.HasPrefix(key, "/"+word+"-"))
	return fmt.Sprint(matching, inside)
}

// TestWalk_AsTriedOut: the regions of a space are those of its keys, no more and no fewer.
func TestWalk_AsTriedOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var patterns []routes.Pattern
		for _, text := range rapid.SliceOfN(drawn, 0, 6).Draw(t, "patterns") {
			patterns = append(patterns, routes.MustPattern(text))
		}
		space, word := routes.MustPattern(drawn.Draw(t, "space")), rapid.SampledFrom([]string{"", "wc"}).Draw(t, "word")
		found, err := regions(t, word, space, patterns)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if name := region(word, key, matching(patterns, key)); space.Match(key) && found[name] == "" {
				t.Fatalf("%s: no key like %s is found, %s", space, key, name)
			}
		}
	})
}

// FuzzWalk: a key that a pattern matches is in one of the regions that the walk finds.
func FuzzWalk(f *testing.F) {
	f.Add("/a/**\n/a/*\n/*/b", "/a/b")
	f.Add("/**\n/wc/store/cart\n/wc/*/x", "/wc/store/v1/cart")
	f.Add("/a/:id/b\n/a/x/**\n/*/*/*", "/a/x/b/c")
	f.Fuzz(func(t *testing.T, lines, key string) {
		var patterns []routes.Pattern
		for text := range strings.Lines(lines) {
			if p, err := routes.ParsePattern(strings.TrimSuffix(text, "\n")); err == nil {
				patterns = append(patterns, p)
			}
		}
		key = strings.ToLower(key)
		if len(patterns) == 0 || len(patterns) > 12 || !possible(key) || strings.Contains(key, "//") || !strings.HasPrefix(key, "/") ||
			len(key) > 1 && strings.HasSuffix(key, "/") || strings.HasPrefix(key, "/shop/store/") || !patterns[0].Match(key) {
			return
		}
		found, err := regions(t, "", patterns[0], patterns)
		if errors.Is(err, keyset.ErrTooMany) {
			return
		}
		if name := region("", key, matching(patterns, key)); found[name] == "" {
			t.Fatalf("no key like %s is found", key)
		}
	})
}

// TestWalk_TooMany: many wildcards have too many cases, and the walk says so.
func TestWalk_TooMany(t *testing.T) {
	a, n := keyset.New(""), 0
	for depth := range 10 {
		for i := range 30 {
			a.Add(routes.MustPattern(strings.Repeat("/*", depth)+fmt.Sprintf("/x%d", i)+strings.Repeat("/*", 10-depth)), n)
			n++
		}
	}
	err := a.Walk(keyset.KeysOf(routes.MustPattern("/**")), nil, func(*keyset.Place) bool { return true })
	if !errors.Is(err, keyset.ErrTooMany) {
		t.Error(err)
	}
}

func TestAutomaton_MarksAndBelow(t *testing.T) {
	a := keyset.New("")
	a.Mark(routes.MustPattern("/a/*/b"))
	a.Mark(routes.MustPattern("/c/**"))
	a.AddBelow("/d", "run", 7)
	a.Apart("/a/x/b")
	var got []string
	err := a.Walk(keyset.KeysOf(routes.MustPattern("/**")), nil, func(p *keyset.Place) bool {
		if p.State.Within() {
			got = append(got, p.Key())
		}
		if slices.Equal(p.State.Matches(), []int{7}) != (strings.HasPrefix(p.Key(), "/d/") && strings.HasSuffix(p.Key(), "/run") && p.Key() != "/d/run") {
			t.Errorf("%s: %v", p.Key(), p.State.Matches())
		}
		return true
	})
	if want := []string{"/c", "/a/x1/b", "/a/x/b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
	for range 2 {
		stopped := 0
		_ = a.Walk(keyset.KeysOf(routes.MustPattern("/**")), func(s *keyset.State) bool { return !s.Marked() }, func(p *keyset.Place) bool {
			if !p.State.Marked() {
				t.Errorf("%s is skipped", p.Key())
			}
			stopped++
			return stopped < 2
		})
		if stopped != 2 {
			t.Errorf("visited %d", stopped)
		}
	}
}
