//go:build !race

package gateway

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
)

// realRoot is a REST root as large as that of a shop with many plugins: 2 MB.
func realRoot(host string) string {
	const args = `{"endpoints":[{"methods":["GET"],"args":{%s}}],"_links":{"self":[{"href":"http://%s/core"}]}}`
	arg := strings.Repeat(`"context":{"description":"Scope under which the request is made.","type":"string","required":false},`, 20)
	about := fmt.Sprintf(args, strings.TrimSuffix(arg, ","), host)
	var b strings.Builder
	fmt.Fprintf(&b, `{"name":"A shop","url":"http://%s/core","home":"http://%s","namespaces":["cms/v2","shop/v3"],"routes":{"/cms/v2":%s`, host, host, about)
	for i := range 980 {
		fmt.Fprintf(&b, `,"/shop/v3/things-%d/(?P<id>[\\d]+)":%s`, i, about)
	}
	fmt.Fprintf(&b, `,"/cms/v2/of/%s":%s}}`, host, about) // a route that no other host has
	return b.String()
}

// TestRoots_Memory: of a root of 2 MB the gateway keeps its routes, an address and a
// directory. That holds for the sites of a configuration, and for hosts that a client invents
// behind a wildcard.
func TestRoots_Memory(t *testing.T) {
	const roots, each = 16, 32 << 10
	if n := len(realRoot("h.example")); n < 19<<20/10 || n > 22<<20/10 {
		t.Fatalf("the root has %d bytes", n)
	}
	open := func() *site {
		s := newTestSite(t)
		s.g.app = new(App)
		return s
	}
	read := func(s *site, host string) {
		b := asktest.Answering(200, realRoot(host))
		root := s.discovery.readRoot(t.Context(), s, b, discover.Reach{Host: host}, true, false)
		if root == nil || root.Index == nil {
			t.Fatal("the root was not read")
		}
		s.drift(t.Context(), root, host, false)
		if s.discovery.homeOf(host) != "http://"+host || discover.Of(&s.Site).ScriptDir(host) != "/core" {
			t.Fatalf("%q, %q", s.discovery.homeOf(host), discover.Of(&s.Site).ScriptDir(host))
		}
	}
	grown := func(name string, reading func(i int)) {
		before := heap.Live()
		for i := range roots {
			reading(i)
		}
		took := (heap.Live() - before) / roots
		t.Logf("%s: %d KiB a root of %d KiB", name, took>>10, len(realRoot("h.example"))>>10)
		if took > each {
			t.Errorf("%s: %d bytes a root, more than %d", name, took, each)
		}
	}
	first := open()
	read(first, "first.example") // others share what it keeps
	var all []*site
	for range roots {
		all = append(all, open())
	}
	grown("sites", func(i int) { read(all[i], fmt.Sprintf("shop%d.example", i)) })
	grown("invented hosts", func(i int) { read(first, fmt.Sprintf("h%d.wildcard.example", i)) })
	runtime.KeepAlive(all)
	runtime.KeepAlive(first)
}

// TestRoots_LongTexts: a site may write anything into its root. Of its addresses and of the
// problems that show them only the beginning is kept.
func TestRoots_LongTexts(t *testing.T) {
	s := newTestSite(t)
	long := strings.Repeat("x", 1<<20)
	b := asktest.Answering(200, fmt.Sprintf(`{"url":"http://h.example/%s","home":"http://%s.example","namespaces":[%q],"routes":{"/":{"_links":{"self":"http://h.example/%s/"}},"/x":{}}}`, long, long, long, long))
	root := s.discovery.readRoot(t.Context(), s, b, discover.Reach{Host: "h.example"}, true, false)
	if root == nil || len(root.Problems) == 0 {
		t.Fatalf("got %+v", root)
	}
	for _, p := range root.Problems {
		if len(p.Text) > 1024 {
			t.Errorf("%s: a text of %d bytes", p.Code, len(p.Text))
		}
	}
	if home, dir := s.discovery.homeOf("h.example"), discover.Of(&s.Site).ScriptDir("h.example"); len(home) > 2048 || len(dir) > 2048 {
		t.Errorf("an address of %d bytes, a directory of %d", len(home), len(dir))
	}
}
