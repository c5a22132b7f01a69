package index

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
)

// largeRoot is the root of a site with many plugins: a core, and its routes again under
// further namespaces. Each call makes strings of its own, as each reading does.
func largeRoot(tb testing.TB) patternsOfRoot {
	tb.Helper()
	r := coreRoot(tb)
	core := r.Patterns
	for n := 1; len(r.Patterns) < 800; n++ {
		ns := fmt.Sprintf("plugin-%d/v1", n)
		r.Namespaces = append(r.Namespaces, ns)
		for _, pattern := range core {
			if rest, ok := strings.CutPrefix(pattern, "/wp/v2"); ok {
				r.Patterns = append(r.Patterns, "/"+ns+rest)
			}
		}
	}
	return r
}

func BenchmarkIndex_Pattern(b *testing.B) {
	r := largeRoot(b)
	x := New(r.Patterns, r.Namespaces)
	for name, route := range map[string]string{
		"text": "/wp/v2/settings", "id": "/wp/v2/posts/17", "deep": "/plugin-3/v1/posts/17/revisions/4", "template": "/wp/v2/templates/theme//home",
		"none": "/wp/v2/nothing/of/this", "nobody": "/nobody/v1/x", "case": "/WP/v2/POSTS/17",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Pattern(route)
			}
		})
	}
}

// BenchmarkNew reads the root of a site with 800 routes that no other site has, and again
// for a site with the same ones.
func BenchmarkNew(b *testing.B) {
	r := largeRoot(b)
	b.Run("first", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			build(append(r.Patterns, fmt.Sprintf("/wp/v2/own-%d", i)), r.Namespaces)
		}
	})
	b.Run("again", func(b *testing.B) {
		keep := New(r.Patterns, r.Namespaces)
		for b.Loop() {
			New(r.Patterns, r.Namespaces)
		}
		runtime.KeepAlive(keep)
	})
}

// TestIndex_MemoryOfManySites: sites with the same plugins share their patterns, and what
// sites no longer use is freed.
func TestIndex_MemoryOfManySites(t *testing.T) {
	const sites = 1000
	before := heap.Live()
	first := New(largeRoot(t).Patterns, largeRoot(t).Namespaces)
	one := heap.Live()
	fill := func(own bool) (list []*Index) {
		for i := range sites {
			r := largeRoot(t)
			if own {
				r.Patterns = append(r.Patterns, fmt.Sprintf("/plugin-3/v1/own-%d", i))
			}
			list = append(list, New(r.Patterns, r.Namespaces))
		}
		return list
	}
	equal := fill(false)
	if equal[0] != first || equal[sites-1] != first {
		t.Error("equal roots do not share their index")
	}
	same := (heap.Live() - one) / sites
	nearly := fill(true)
	other := (heap.Live() - one) / sites
	t.Logf("%d routes: %d KiB for the first site, %d bytes for each further one, %d bytes with one route of its own",
		len(largeRoot(t).Patterns), (one-before)>>10, same, other)
	if same > 256 || other > 16<<10 {
		t.Error("too much for a further site")
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(equal)
	runtime.KeepAlive(nearly)
}

// TestIndex_Parts: the sizes of the parts are about what an index takes, also where its
// expressions are compiled, and rather too large.
func TestIndex_Parts(t *testing.T) {
	compiled := patternsOfRoot{Namespaces: []string{"own/v1"}}
	for i := range 500 {
		compiled.Patterns = append(compiled.Patterns, fmt.Sprintf(`/own/v1/x%d/(?P<a>[\d]+)-(?P<b>[a-z]{1,20})/(?P<c>x|y|[\w]+)`, i))
	}
	for name, r := range map[string]patternsOfRoot{"of a site": largeRoot(t), "compiled": compiled} {
		before := heap.Live()
		x := build(slices.Clone(r.Patterns), r.Namespaces)
		for i := range 500 {
			x.Pattern(fmt.Sprintf("/own/v1/x%d/7-a/x", i))
		}
		took, said := int(heap.Live()-before), 0
		x.Parts(func(_ any, bytes int) { said += bytes })
		t.Logf("%s: %d routes take %d KiB, the parts say %d KiB", name, len(r.Patterns), took>>10, said>>10)
		if said < took || said > 6*took {
			t.Errorf("%s: the parts say %d bytes of %d", name, said, took)
		}
		runtime.KeepAlive(x)
		runtime.KeepAlive(r)
	}
	var none *Index
	none.Parts(func(any, int) { t.Error("nothing has a part") })
}

// TestIndex_PartsAreShared: what indexes share is the same part.
func TestIndex_PartsAreShared(t *testing.T) {
	r := largeRoot(t)
	a, parts, own := New(r.Patterns, r.Namespaces), map[any]bool{}, 0
	a.Parts(func(part any, _ int) { parts[part] = true })
	b := New(append(slices.Clone(r.Patterns), "/another/v1/x"), append(slices.Clone(r.Namespaces), "another/v1"))
	b.Parts(func(part any, bytes int) {
		if !parts[part] {
			own += bytes
		}
	})
	if own == 0 || own > 4<<10 {
		t.Errorf("a route of its own is %d bytes", own)
	}
	runtime.KeepAlive(a)
}

// TestIndex_IsFreed: nothing is kept of an index that no site uses.
func TestIndex_IsFreed(t *testing.T) {
	New([]string{"/own/v1/thing/(?P<id>[\\d]+)", "/own/v1/x"}, []string{"own/v1"}).Pattern("/own/v1/thing/7")
	deadline := time.Now().Add(10 * time.Second)
	for entries.has("/own/v1/x") || entries.has("/own/v1/thing/(?P<id>[\\d]+)") {
		if heap.Live(); time.Now().After(deadline) {
			t.Fatal("the patterns are still there")
		}
	}
}

func (p *pool[K, V]) has(key K) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.values[key]
	return ok
}

// TestIndex_Bounds: whatever a site says of itself, it costs little memory and time.
func TestIndex_Bounds(t *testing.T) {
	many := func(n int, format string) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return list
	}
	long := strings.Repeat("x", 800)
	for name, r := range map[string]patternsOfRoot{
		"8 MB of routes":          {[]string{"a/v1"}, many(10_000, "/a/v1/%d/(?P<id>"+long+")")},
		"many expressions":        {[]string{"a/v1"}, many(5000, "/a/v1/(?P<x>.*%d.*)z")},
		"heavy expressions":       {[]string{"a/v1"}, many(200, "/a/v1/(?P<x>(?:[a-z]{1,20}%d?){30})z")},
		"nested repetitions":      {[]string{"a/v1"}, many(10, "/a/v1/%d((((a{9}){9}){9}){9}){9}")},
		"deep":                    {[]string{"a/v1"}, []string{"/a/v1/" + strings.Repeat("(", 5000) + strings.Repeat(")", 5000)}},
		"one segment for all":     {[]string{"a/v1"}, many(10_000, "/a/v1/a/(?P<x>[\\d]+)/%d")},
		"namespaces":              {many(5000, "a/v%d"), many(5000, "/a/v%d/x")},
		"as many as are read":     {many(maxNamespaces, "b%d"), many(10_000, "/b%d/(?P<x>.)(?P<y>.)")},
		"opaque":                  {[]string{"a/v1"}, many(10_000, "/a/v1/%d(?=x)")},
		"empty names and nothing": {[]string{"", "a", "a", "/", "//"}, []string{"", "", "/", "a", "(?P<x>)"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, start := heap.Live(), time.Now()
			x := New(r.Patterns, r.Namespaces)
			built := time.Since(start)
			start = time.Now()
			for _, route := range []string{
				"/a/v1/" + strings.Repeat("a", 1500), "/A/v1/" + strings.Repeat("a", 1500), "/a/v1/a/7/9999", "/b7/xy", "/B7/xy", "/", "",
			} {
				x.Pattern(route)
			}
			asked := time.Since(start)
			start = time.Now()
			x.Pattern("/a/v1/" + strings.Repeat("b", 1500))
			again, held := time.Since(start), heap.Live()-before
			t.Logf("built in %v, first questions %v, another one %v, %d KiB", built, asked, again, held>>10)
			if held > 16<<20 || built > 10*time.Second || asked > 10*time.Second || again > 500*time.Millisecond {
				t.Error("too much")
			}
			runtime.KeepAlive(x)
		})
	}
}

// TestIndex_Cut: a route that may match what was left out has no name.
func TestIndex_Cut(t *testing.T) {
	list := make([]string, maxRoutes, maxRoutes+1)
	for i := range list {
		list[i] = fmt.Sprintf("/a/v1/x%d", i)
	}
	x := New(append(list, "/a/v1/(?P<id>[^/]+)"), []string{"a/v1", "a"})
	if name, ok := x.Pattern("/a/v1/x7"); !ok || name != "/a/v1/x7" {
		t.Errorf("got %q, %v", name, ok)
	}
	if name, ok := x.Pattern("/a/v1/secret"); ok || name != "" {
		t.Errorf("got %q, %v", name, ok)
	}
}
