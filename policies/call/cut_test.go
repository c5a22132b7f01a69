package call

import (
	"regexp"
	"strings"
	"testing"
)

// cutExpressions are the expressions that cutting stands for.
var cutExpressions = func() (lines [][]*regexp.Regexp) {
	const names = `(?:utm_[a-z]+|mc_[a-z]+|_bta_[a-z]+|gclid|gclsrc|dclid|fbclid|msclkid|cx|ie|cof|siteurl|zanpid|origin|_kx|gad_source|gbraid|wbraid|_gl|srsltid)`
	for _, line := range [][]string{
		{`&` + names + `=[-A-z0-9_.%]+`, `(\?)` + names + `=[-A-z0-9_.%]+`},
		{`([?&])` + names + `=[-_A-z0-9+(){}%.*]+&?`},
		{`()` + names + `=[-_A-z0-9+()%.]+&?`},
	} {
		var expressions []*regexp.Regexp
		for _, text := range line {
			expressions = append(expressions, regexp.MustCompile(text))
		}
		lines = append(lines, expressions)
	}
	return lines
}()

// cutEnd is applied after the last.
var cutEnd = regexp.MustCompile(`[?|&]+$`)

// FuzzCut: cutting leaves what the expressions leave.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{
		"utm_x=a&utm_y=b&gclid=1", "a=gclid=x=y&utm_=1&utm_a=", "rest_rgclid=x&oute=1", "utm_ie=1&cookie=2&x", "?utm_a=1?utm_b=2&&ie=*(", "utm_utm_x=1",
		"=ie=ie=x&ie=%25/&origin=[]`/", "gclid==", "mc_ie=1ie=2", "", "utm_source=x=/wp/v2/users",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		query = "?" + strings.ToValidUTF8(query, "") // the expressions see other bytes as one character
		for i, line := range cutExpressions {
			got, want := query, query
			for j, expression := range line {
				got = cutting[i].cutters[j].cut(got)
				by := "$1"
				if expression.NumSubexp() == 0 {
					by = ""
				}
				want = expression.ReplaceAllString(want, by)
			}
			if got != want {
				t.Fatalf("%d: %q leaves %q, want %q", i, query, got, want)
			}
			if i == len(cutting)-1 {
				want = cutEnd.ReplaceAllString(want, "")
			}
			if got = cutting[i].leaves(query); got != want {
				t.Fatalf("%d: of %q is left %q, want %q", i, query, got, want)
			}
		}
	})
}
