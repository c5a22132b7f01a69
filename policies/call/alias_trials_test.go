package call

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// counted counts the bytes that an expression is tried on.
type counted struct {
	expression
	bytes int
}

func (c *counted) MatchString(text string) bool {
	c.bytes += len(text)
	return c.expression.MatchString(text)
}

func (c *counted) FindStringSubmatch(text string) []string {
	c.bytes += len(text)
	return c.expression.FindStringSubmatch(text)
}

// costlyAliases are rules that read each text to its end, as rules of themes do.
func costlyAliases(n int) (rules []string) {
	for i := range n {
		rules = append(rules, fmt.Sprintf("^(.+)/json%d/?$ /acme/v1/t%d", i, i))
	}
	return rules
}

// manyTexts are paths of about n bytes that servers, caches and PHP may make many texts of.
func manyTexts(n int) (paths []string) {
	const scripts = "/a.php/b.php/c.php/d.php/"
	for _, unit := range []string{"a", "a/", "%2541", "%25252541", "%e4", "%C3%BC%60", "a%20", "//", "/.x", "%09%0b", "a.php", "gclid=x&", "utm_a=%25e4&", "%00/", "%25%e4//", "+%e4%252f"} {
		for _, head := range []string{"/", scripts, "/x.php/x.php/x.php/x.php/", scripts + "//%2541%e4%60", "/ngclid=x&mc_a=x&ie=x" + scripts + "%25e4//", "/%e4" + scripts + "%01//"} {
			for _, tail := range []string{"", "%0a", "//x"} {
				paths = append(paths, head+repeated(unit, n-len(head)-len(tail))+tail)
			}
		}
	}
	return paths
}

// TestAliases_LongPages: long paths that honest clients send are pages, and usual ones cost nothing.
func TestAliases_LongPages(t *testing.T) {
	rd := aliasReader("", costlyAliases(20)...)
	for _, path := range []string{
		"/" + strings.Repeat("a", 10<<10),
		"/" + strings.Repeat("a/", 5<<10),
		"/" + strings.Repeat("%D0%BA%D0%BB-", 4<<10/13),
		"/cdn-cgi/image/width=80,quality=75/https://cdn.example.com/a%20b/" + strings.Repeat("signed-0123456789", 3900/17) + ".jpg",
		"/imgproxy/" + strings.Repeat("aHR0cHM6Ly9", 7<<10/11) + ".jpg@webp",
	} {
		if c := rd.Read(getAt(path, ""), nil); c.Kind != Page {
			t.Errorf("%s… of %d bytes: %s", path[:40], len(path), describe(c))
		}
	}
	for _, path := range []string{"/product/blue-shirt/", "/wp-content/uploads/2026/11/shirt.v2.jpg", "/wp-json/wp/v2/posts"} {
		u, one := &url.URL{Path: path}, aliasReader("", costlyAliases(1)...)
		least := 1000.0
		for range 100 { // with the race detector regexp's pools lose what was put back now and then
			least = min(least, testing.AllocsPerRun(1, func() { one.readAlias(u) }))
		}
		if least > 0 {
			t.Errorf("%s: %.0f allocations", path, least)
		}
	}
}

// TestAliases_TooManyTexts: a path of more texts than are tried is refused, wherever the text stands
// that an alias fits.
func TestAliases_TooManyTexts(t *testing.T) {
	rd := aliasReader("", "^(.+)/json$ /acme/v1/x")
	for name, path := range map[string]string{
		"sent":    "/" + strings.Repeat("%61", 3900) + "%2541%e4/json",
		"decoded": "/%2541" + strings.Repeat("%e4", 4<<10) + "%2fjson",
		"scripts": "/a.php/b.php/c.php/" + strings.Repeat("a", 6<<10) + "/json/d",
		"glued":   "/%e4ngclid=x&" + strings.Repeat("%e4%2541", 2<<10) + "/jsongclid=x",
		"slashes": "/%e4%2541" + strings.Repeat("a", 8<<10) + "//json%0b",
	} {
		if c := rd.Read(getAt(path, ""), nil); c.Kind != Refused || c.Refusal.Status != http.StatusBadRequest {
			t.Errorf("%s: %s", name, describe(c))
		}
	}
}

// readAnew is readAlias as the platform and servers do it: each text for itself, however many.
func (rd *Reader) readAnew(u *url.URL) (pathReading, bool) {
	raw := between.EscapedPath(u)
	text, base := rd.belowHome(phpSlashes(raw))
	if text == "" || text == "0" || text == "index.php" {
		return pathReading{}, false
	}
	fits := func(a *alias, text string) bool { return a.fits.MatchString(wide(text)) }
	for _, a := range rd.rules {
		for _, text := range []string{text, phpvars.Decode(text)} {
			if fits(a, text) {
				return pathReading{isCall: true, route: strings.TrimRight(a.fill(wide(text)), "/"), base: base, alias: a.text}, false
			}
		}
	}
	all := between.DecodeAll(text)
	texts := []string{all, singleSlashes(all), strings.TrimSuffix(all, "\n"), strings.ReplaceAll(all, "\v", " ")}
	for _, path := range []string{raw, phpvars.Decode(raw), between.DecodeAll(raw)} {
		for end := strings.Index(lower(path), ".php"); end >= 0; {
			end += len(".php")
			info, _, _ := strings.Cut(path[end:], "?")
			if text, _ := rd.belowHome(info); text != "" && text != "0" {
				texts = append(texts, text, singleSlashes(text))
			} else if info != "" {
				text, _ = rd.belowHome(strings.ReplaceAll(path, info, ""))
				texts = append(texts, text, singleSlashes(text))
			}
			next := strings.Index(lower(path[end:]), ".php")
			if next < 0 {
				break
			}
			end += next
		}
	}
	for _, a := range rd.rules {
		for _, text := range texts {
			if fits(a, text) {
				return pathReading{}, true
			}
		}
	}
	return pathReading{}, false
}

// FuzzAliasTrials: trying each text once, and few of them, decides as trying all; a path that is
// longer than maxTried lets may be refused besides.
func FuzzAliasTrials(f *testing.F) {
	for i, path := range manyTexts(100) {
		f.Add(path)
		if i%16 == 0 {
			f.Add(path + strings.Repeat("a", maxTried/4))
		}
	}
	for _, path := range []string{"/api/wp/v2/users", "/%61pi/x", "/x.php/api/y", "/x.php/%2561pi//y", "/BLOG/a.php/blog/api/y", "/a/json0", "/a%2fjson0%0a", "/u%C3%BC"} {
		f.Add(path)
	}
	readers := []*Reader{
		aliasReader("", append(costlyAliases(2), "^api/(.+) /$1", "^u..$ /wp/v2/users", "^x/?$ /x")...),
		aliasReader("/blog", append(costlyAliases(2), "^api/(.+) /$1", "^(.*)/feed /x")...),
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Host != "" || !strings.HasPrefix(path, "/") {
			return
		}
		for _, rd := range readers {
			got := rd.readAlias(u)
			want, near := rd.readAnew(u)
			short := len(path) < maxTried/64 // texts, and each of their bytes may be two
			switch {
			case got.refusal != nil && (near || want.isCall || !short), want.alias != "" && cancelled(want.route) && got == (pathReading{}):
			case got.refusal != nil && strings.Count(lower(between.DecodeAll(path)), ".php") > maxScripts:
			case near || got.refusal != nil || got.isCall != want.isCall || got.alias != want.alias || strings.TrimRight(got.route, "/") != want.route || got.base != want.base:
				t.Fatalf("%q is %+v, each text for itself %+v, near %v", path, got, want, near)
			}
		}
	})
}

// BenchmarkAliases is a page of a usual path, and the dearest of 10 KB, on a site with aliases.
func BenchmarkAliases(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		rd := aliasReader("", costlyAliases(n)...)
		b.Run(fmt.Sprintf("page/aliases=%d", n), func(b *testing.B) {
			r := getAt("/product/blue-shirt/", "")
			b.ReportAllocs()
			for b.Loop() {
				rd.Read(r, nil).Close()
			}
		})
		for name, path := range map[string]string{
			"plain":   "/" + strings.Repeat("a", 10_000),
			"scripts": "/a.php/b.php/c.php/d.php/" + strings.Repeat("%e4", 3_200) + "//x",
		} {
			b.Run(fmt.Sprintf("%s/aliases=%d", name, n), func(b *testing.B) {
				r := getAt(path, "")
				for b.Loop() {
					rd.Read(r, nil).Close()
				}
			})
		}
	}
}
