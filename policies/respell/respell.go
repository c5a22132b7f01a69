// Package respell writes one REST call in all the ways that the platform runs as the same
// call: the way a test of a configuration proves that nobody gets past a rule by writing a
// call differently.
//
//	list := respell.All(platform, respell.Request{URL: "https://shop.example.com/wp-json/wp/v2/users"})
//
// A spelling changes where the route stands and how it is written, how the method is named,
// or both (docs/platform I.1, I.2). The parameters, the credentials and the body stay.
//
// What the gateway refuses by design, whatever the rules say, is left out, so that all
// spellings of an allowed call can pass: the pretty form behind index.php, an encoded prefix
// or slash in a path, doubled slashes within a route, a route or _method that stands twice,
// methods in lower case on the request line, and headers that decide sent twice
// (docs/reading.md).
package respell

import (
	"bufio"
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Request is a call in one spelling.
type Request struct {
	Method string   // "" is GET, or POST with a body
	URL    string   // with scheme and host
	Header []string // lines "Name: value"
	Body   []byte   // nil for none
	Base   string   // home path, "/blog"; "" takes it from the URL, which is in the pretty form or the home page's
	Prefix string   // of the pretty form, where the site has changed it
	// Aliases are the rewrite rules of the site. A call under one is written in the other ways.
	Aliases []call.Alias
}

// Spelling is one way to write a call.
type Spelling struct {
	Name string // for users, "query, folded name rest[route"; no two of a call have the same
	Raw  []byte // the bytes of an HTTP/1.1 request
	// Overrides tells that the override header alone changes the method. Then another call must
	// be allowed as well: see call.Call.WithoutOverride.
	Overrides bool
}

// Plain is the name of the spelling that a Request has itself. It is the first one.
const Plain = "as written"

// All returns the spellings of r. A body stays as it is where it is JSON or of another type
// that no form can hold. A form body may become multipart, and takes the route along. All
// returns nil where the gateway does not read r as a call.
func All(platform platforms.Platform, r Request) []Spelling {
	u, err := url.Parse(r.URL)
	if err != nil || strings.Trim(u.Hostname(), ".") == "" || !httpguts.ValidHostHeader(u.Host) || len(r.Method) > longestMethod ||
		slices.ContainsFunc(r.Header, unread) {
		return nil // Caddy answers by itself
	}
	w := &writer{host: u.Host}
	plain := Spelling{Name: Plain, Raw: w.asWritten(r)}
	known := call.Config{Platform: platform, Prefix: r.Prefix}
	if known.Aliases = r.Aliases; len(r.Aliases) > 0 {
		known.Base = r.Base // the platform tries its rules below it
	}
	reader := policies.NewReader(known)
	want, ok := readingOf(reader, plain.Raw)
	if !ok || !want.isCall {
		return nil
	}
	w.learn(r, u, want, cmp.Or(strings.Trim(r.Prefix, "/"), platform.Prefix))
	list := []Spelling{plain}
	for _, s := range w.spellings() {
		known := func(t Spelling) bool { return bytes.Equal(t.Raw, s.Raw) }
		if got, ok := readingOf(reader, s.Raw); ok && got.is(want) && !slices.ContainsFunc(list, known) {
			s.Overrides = got.overrides
			list = append(list, s)
		}
	}
	return list
}

// unread tells whether Go's HTTP server answers a request with a header line by itself. A
// line that begins with a space would continue the one before it.
func unread(line string) bool {
	name, value, colon := strings.Cut(line, ":")
	value = strings.Trim(value, " \t") // a line end within the value would end the header
	return !colon || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) ||
		strings.EqualFold(name, "Expect") && !strings.EqualFold(value, "100-continue")
}

// longestMethod is the length of the longest method that Caddy reads.
const longestMethod = 32

// reading is what the gateway takes a request for.
type reading struct {
	isCall, pretty      bool
	overrides           bool
	route, method, base string
	calls               string // keys, methods and ids of the call and its parts
}

// readingOf reads raw. ok is false where raw is no request.
func readingOf(reader *call.Reader, raw []byte) (got reading, ok bool) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return reading{}, false
	}
	c := reader.Read(r, nil)
	defer c.Close()
	got = reading{
		isCall: (c.Kind == call.Single || c.Kind == call.Batch) && !c.Foreign, pretty: c.Form != call.Query,
		route: c.Route, method: c.Method, base: c.Base, overrides: c.WithoutOverride() != nil,
	}
	for _, p := range append([]*call.Call{c}, c.Parts...) {
		id, _, err := p.ObjectID()
		if err != nil {
			return reading{}, false
		}
		got.calls += p.Kind.String() + " " + p.Method + " " + p.Key + " " + id + "\n"
	}
	return got, true
}

// is tells whether two requests are the same call. HEAD is what GET is.
func (r reading) is(other reading) bool {
	return r.isCall && (r.calls == other.calls || r.method == http.MethodHead && other.method == http.MethodGet &&
		strings.Replace(r.calls, http.MethodHead, http.MethodGet, 1) == other.calls)
}

// pairsWithout returns the pairs of a raw query or form that set none of some variables.
func pairsWithout(raw string, names ...string) (pairs []string) {
	for pair := range strings.SplitSeq(raw, "&") {
		if pair != "" && !slices.ContainsFunc(names, func(name string) bool { return phpvars.Has(pair, name) }) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
