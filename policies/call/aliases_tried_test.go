//go:build !race

package call

import (
	"net/url"
	"testing"
)

// TestAliases_Tried: no path, rewritten or not, makes an alias look at more bytes than a few times
// maxTried.
func TestAliases_Tried(t *testing.T) {
	rd := aliasReader("", costlyAliases(1)...)
	count := &counted{expression: rd.rules[0].fits}
	rd.rules[0].fits = count
	for _, n := range []int{300, 4 << 10, 10 << 10} {
		most, dearest := 0, ""
		for _, path := range manyTexts(n) {
			for _, query := range []string{"", "rest_route=/wp/v2/posts"} {
				r := getAt(path, query)
				if r == nil {
					t.Fatal(path)
				}
				for _, original := range []*url.URL{nil, r.URL} {
					count.bytes = 0
					if original != nil {
						r = getAt("/index.php", query)
					}
					rd.Read(r, original).Close()
					if count.bytes > most {
						most, dearest = count.bytes, path[:40]+"… "+query
					}
				}
			}
		}
		if most > 4*maxTried {
			t.Errorf("%d bytes make an alias look at %d: %s", n, most, dearest)
		}
	}
}
