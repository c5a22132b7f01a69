package grammar

import (
	"strconv"
	"strings"
)

// unit is what is repeated. A "#" in it is a number, another one each time.
type unit struct {
	open  string // before what is nested
	nest  string // repeated within the unit, and
	close string // as often behind it
	end   string // after what is nested
}

// text repeats u up to most bytes.
func (u unit) text(depth, most int) string {
	inner := ""
	if strings.HasSuffix(u.nest, ":") {
		inner = "1" // of the innermost object
	}
	once := u.open + strings.Repeat(u.nest, depth) + inner + strings.Repeat(u.close, depth) + u.end
	if !strings.Contains(once, "#") {
		return strings.Repeat(once, max(1, most/max(1, len(once))))
	}
	var b strings.Builder
	for i := 0; b.Len()+len(once) <= most || i == 0; i++ {
		b.WriteString(strings.ReplaceAll(once, "#", strconv.FormatInt(int64(i), 36)))
	}
	return b.String()
}

func depthOf(u unit) int {
	if u.nest == "" {
		return 0
	}
	return 60
}

var (
	paths = []unit{
		{end: "/.php"},
		{end: "/a.php"},
		{end: "/index.php"},
		{end: ".php/"},
		{end: "/"},
		{end: "/a"},
		{end: "/."},
		{end: "/.."},
		{end: "%2f"},
		{end: "/%2e"},
		{end: "/%252e"},
		{end: "/wp-json"},
		{end: "/wp-jso"},
		{end: "-wp-json"},
		{end: "%41"},
		{end: "/#"},
		{end: ";"},
		{end: "%"},
		{end: "&utm_a=b%2f&gclid=a.b"},
	}
	pairs = []unit{
		{end: "a#=1&"},
		{end: "a=#&"},
		{end: "&"},
		{end: "a#&"},
		{open: "a#", nest: "[]", end: "=&"},
		{open: "a#", nest: "[#]", end: "=&"},
		{open: "a#", nest: "%5b%5D", end: "=1&"},
		{open: "a#", nest: "[", end: "=1&"},
		{open: "a", nest: "[]", end: "=1&"},
		{end: "a[#]=1&"},
		{open: "input[#]", nest: "[]", end: "=1&"},
		{end: "%41#=%41&"},
		{end: "a.b#=1&"},
		{end: "id=#&"},
		{end: "id[#]=1&"},
		{end: "_embed=#&"},
		{end: "_fields[#]=1&"},
		{end: "rest_route=0&"},
		{end: "rest.route#=1&"},
		{end: "+"},
		{end: "%00"},
		{end: ";a#=1"},
		{end: "x"},
		{end: "%"},
		{end: "&gclid=a|b%0"}, // names that caches cut, and escapes that the cuts tear
		{end: "%6utm_a=~&&gclid=a|b"},
		{end: "%utm_a=%25&&&gclid=a.|b&id%%0"},
		{end: "rest_rout&%6&utm_a=~&5=x"},
		{end: "%6|hsa_%65utm_a=&&&futm_/..&5b"},
	}
	members = []unit{
		{end: `"a#":1,`},
		{end: `"a":#,`},
		{end: `"id":#,`},
		{end: `"a#":[],`},
		{end: `"a#":{},`},
		{open: `"a#":`, nest: `[`, close: `]`, end: `,`},
		{open: `"a#":`, nest: `{"a":`, close: `}`, end: `,`},
		{open: `"a#":[`, nest: `1,`, end: `1],`},
		{end: `"\u0061#":"\u0061",`},
		{end: `"a#":"\\\"",`},
		{end: `"line_items":[],`},
		{open: `"meta_data":[`, nest: `{"id":1},`, end: `{}],`},
		{end: `"a#":1e9,`},
		{open: `"a#":"`, nest: "x", end: `",`},
		{open: `"input":[`, nest: `{},`, end: `1],`},
	}
	items  = []unit{{end: "update[0][a#]=&"}, {end: "update[0][a#][a][]=&"}, {end: "delete[#]=1&"}}
	fields = []unit{{open: "x", nest: ","}, {open: "a#", nest: ";"}, {end: "a#, "}, {end: "a#=b; "}, {end: " "}, {end: ";boundary=a#"}, {end: "="}}
)

const mostOfAnswer = 1 << 20

// answers are units of a list that the platform answers.
var answers = []unit{
	{end: `{"_embedded":{"author":[{"slug":"a#","link":"/a"}]}},`},
	{end: `{"id":#},`},
	{end: `1,`},
	{end: `[],`},
	{end: `{"a":"\u0061\/"},`},
	{end: `{"_embedded":{"author":[{}]}},`},
	{end: `{"slug":1},`},
	{open: `{"a":`, nest: `[`, close: `]`, end: `},`},
	{open: `{"a":`, nest: `{"body":`, close: `}`, end: `},`},
	{open: `{"_links":{"author":[`, nest: `{"href":"/wp-json/wp/v2/users/1"},`, end: `{}]},"_embedded":{"author":[{},{},{}]}},`},
	{open: `{"content":"`, nest: "lorem ipsum ", end: `"},`},
}
