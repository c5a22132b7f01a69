//go:build !race

package gateway

import "github.com/restwarden/restwarden/cmd/check/grammar"

// heldKinds are the kinds of requests of which nothing is held that no share counts.
var heldKinds = grammar.Kinds

// dearest are the dearest known requests of each kind; docs/guides/cost.md has their figures.
var dearest = []dear{
	{"page", "path", "/wp-json"},
	{"page", "end of the path", "/.php"},
	{"page", "query", "%6|hsa"},
	{"page", "names of fields", "X-0"},
	{"page", "cookie", "a0=b"},
	{"page", "form", "rest_route=0"},
	{"call", "query", "a0[]"},
	{"call", "query", "%41"},
	{"call", "query", "%6|hsa"},
	{"call", "query of a POST", "a0[]"},
	{"call", "form", "a0[]"},
	{"call", "form", "a[0]"},
	{"call", "form", ";a0"},
	{"call", "JSON", `"a0":1,`},
	{"form", "form", "a0[]"},
	{"form", "form", "&&"},
	{"form", "form that names the route", "a0[]"},
	{"form", "multipart", "\r\n--B"},
	{"batch", "bodies of parts", `"a0":1,`},
	{"batch", "parts", ""},
	{"batch", "paths of parts", "a[0]"},
	{"batch", "paths of parts", "rest_rout&"},
	{"batch", "many items", "{}"},
	{"batch", "form of items", "a0[]"},
	{"batch", "form of a key's items", "update[0]"},
	{"batch", "a key's items in the query", "update[0]"},
	{"batch", "query of items", "id[0]"},
	{"batch", "collection", "/a"},
	{"batch", "posted collection", "A"},
	{"message", "arguments", `"a0":[]`},
	{"message", "arguments", `"a0":"\\`},
	{"message", "arguments", `"meta_data"`},
	{"message", "messages", ""},
	{"message", "tool", ""},
	{"answer", "answer", `{"_embedded":{"author":[`},
	{"answer", "answer", `{"a":[[`},
}
