package between

import (
	"strings"
	"testing"
)

// TestJoints_Looks: whatever a text holds, a bounded number of its pieces is looked at; a text with more is
// refused.
func TestJoints_Looks(t *testing.T) {
	for _, unit := range []string{
		"rest_rout&re&rest&_meth&oaut%6&fbcl&utm_a=b~e=/", "%6utm_a=~&", "rest_rout%&%6&utm_a=~6&5=x&", "%%3&%3&%3&6=~&utm_a=~&", "rest_rout&utm_a=~&",
		"s&i&si=~&utm_a=~&", "r=~&utm_a=x~", "%zutm_", "%", "%25", "=~r", "/", "/\x80", "utm_", "hsa_", "mc_mc_", "/%2f", "fbcli%6&4=~&utm_a=~&", "&gclid=a|b%0", "%6utm_a=~&&gclid=a|b",
		"%utm_a=%25&&&gclid=a.|b&id%%0", "%6|hsa_%65utm_a=&&&futm_/..&5b",
	} {
		for _, n := range []int{100, 1_000, 4_000, 16_000} {
			text := strings.Repeat(unit, n/len(unit)) + "&gclid=~"
			j := jointsOf(text)
			if j == nil {
				continue
			}
			for _, name := range []string{"rest_route", "_method", "_embed", "id", "consumer_key", "requests"} {
				j.makes(variableName(name))
			}
			if j.looks > mostLooks+dearLook {
				t.Errorf("%d of %q: %d looks", n, unit, j.looks)
			}
		}
	}
	j := jointsOf(strings.Repeat("id%5B%5D=1000&", 990) + "utm_source=a+b") // the longest form of an administrator
	if j == nil {
		t.Fatal("a form is too many")
	}
	for range 20 {
		if j.makes(variableName("rest_route")) {
			t.Fatalf("a form makes a route, after %d looks", j.looks)
		}
	}
}

// TestJoints_Counted: looking for the rest of a torn escape counts each start, also one that no escape goes on with, and
// each of what it may become.
func TestJoints_Counted(t *testing.T) {
	j := jointsOf("%utm_a=%25" + strings.Repeat("&x&gclid=a.|b", 50))
	if j == nil || j.starts.size() < 100 || !j.gaps.has(1) {
		t.Fatalf("%+v", j)
	}
	j.looks, j.mended = 0, nil
	if j.mends(0); j.looks < j.starts.size() {
		t.Errorf("%d looks at %d starts", j.looks, j.starts.size())
	}
	many := make([]mended, 100) // of one escape
	for i := range many {
		many[i] = mended{c: 'q', next: i}
	}
	j.looks, j.mended[len(j.escapes)-1] = 0, many
	if j.goesOnTorn("gclid", 0, 0) || j.looks < len(many) {
		t.Errorf("%d looks for a name that is cut", j.looks)
	}
	j.looks = 0
	if j.mendedPiece(literal("wp-json"), []reached{{torn: []int{0}}}, 0) || j.looks < len(many) {
		t.Errorf("%d looks for a word", j.looks)
	}
}
