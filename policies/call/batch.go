package call

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// part holds the parameters that one part of a batch carries itself.
type part struct {
	members *members // from JSON
	branch  *branch  // from a form or a query
	ids     []string // fields that name the item of a collection
	gone    bool     // see Call.Settle
}

func (p *part) get(name string, levels int) (any, bool, *Refusal) {
	switch {
	case p.gone:
		return nil, false, errBody
	case p.branch != nil:
		return p.branch.get(name, levels)
	}
	raw, ok := p.members.get(name)
	if !ok || raw.Kind() == 'n' {
		return nil, false, nil
	}
	v, refusal := decodeLevels(raw, levels)
	return v, true, refusal
}

// raw is get for a value that is taken apart further. It leaves JSON undecoded.
func (p *part) raw(name string) (any, bool) {
	if p.branch != nil {
		return p.branch.child(name)
	}
	raw, ok := p.members.get(name)
	return raw, ok && raw.Kind() != 'n'
}

// partOf reads one item of a list as the fields of a part. Clients in PHP write an empty
// object as an empty list.
func partOf(item any) (*part, *Refusal) {
	switch v := item.(type) {
	case *branch:
		return &part{branch: v}, nil
	case jsontext.Value:
		if v.Kind() == '{' {
			object, refusal := membersOf(v)
			return &part{members: object}, refusal
		}
		if items, refusal := readList(v, 0); refusal == nil && items == nil {
			return new(part), nil
		}
	case string:
		if v == "" {
			return new(part), nil
		}
	}
	return nil, errBatch
}

// list reads a parameter that is a list: a JSON array, or a PHP array with the keys 0, 1,
// 2 and so on. It returns at most limit items, undecoded.
func (s *source) list(name string, limit int) (items []any, refusal *Refusal) {
	raw, set, refusal := s.rawJSON(name)
	if refusal != nil {
		return nil, refusal
	}
	if set {
		if string(raw) == `""` {
			return nil, nil
		}
		return readList(raw, limit)
	}
	v, from, refusal := s.find(name, branchLevels)
	if refusal != nil || v == nil || v == "" {
		return nil, refusal
	}
	if from == inQuery && phpvars.OrderMatters(s.query, name) {
		return nil, errBatch // a server that sorts the query would make another list
	}
	array, ok := v.(*phpvars.Array)
	if !ok {
		return nil, errBatch
	}
	if array.Len() > limit {
		return nil, errTooMany
	}
	src := s.outlasting()
	if refusal := src.hold(&src.listed, array.Size()); refusal != nil {
		return nil, refusal
	}
	list := &branch{array}
	for i, key := range array.Keys() {
		if key != strconv.Itoa(i) {
			return nil, errBatch
		}
		item, _ := list.child(key)
		items = append(items, item)
	}
	return items, nil
}

// isBatch tells whether c is a call of a batch route with this method.
func (rd *Reader) isBatch(c *Call, method string) bool {
	_, kind := rd.batchRoute(c.Key)
	switch {
	case c.Foreign:
		return false
	case kind == requestList:
		return method == http.MethodPost
	}
	return kind == itemLists && (method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch)
}

// Open takes a batch apart. Its Parts are calls of their own, to be judged as if each had
// been sent alone. A batch without a certain reading becomes Refused. Open does nothing to
// a Call of another Kind, and nothing the second time.
func (c *Call) Open() {
	if c.Kind != Batch || c.opened {
		return
	}
	c.opened = true
	rd := c.src.rd
	flatten := rd.flattenRequests
	if collection, kind := rd.batchRoute(c.Key); kind == itemLists {
		flatten = func(c *Call) *Refusal { return rd.flattenItems(c, collection) }
	}
	refusal := flatten(c)
	if refusal == nil {
		refusal = c.countParts()
	}
	if refusal != nil {
		*c = Call{Kind: Refused, Refusal: refusal, src: c.src}
	}
}

const (
	noBatch     = iota
	requestList // {requests: [{path, method, body}]}
	itemLists   // {create: [], update: [], delete: []}
)

// batchRoute tells what kind of batch a route is, and of which collection.
func (rd *Reader) batchRoute(key string) (collection string, kind int) {
	if key == "/batch/v1" {
		return "", requestList
	}
	collection, ok := strings.CutSuffix(key, "/batch")
	if !ok {
		return "", noBatch
	}
	p := &rd.site.Platform
	if collection == "/"+p.Checkout {
		return "", requestList
	}
	if _, ok := platforms.CutNamespace(collection, "/"+p.Analytics); ok {
		return collection, itemLists
	}
	if below, ok := platforms.CutNamespace(collection, "/"+p.ShopWord()); ok && isVersion(below) {
		return collection, itemLists
	}
	return "", noBatch
}

// isVersion tells whether a route goes on with a version, "v3/", whichever the shop has.
func isVersion(route string) bool {
	version, _, below := strings.Cut(route, "/")
	number, is := strings.CutPrefix(version, "v")
	return is && below && number != "" && strings.Trim(number, "0123456789") == ""
}

// isPartPath tells whether every front-end and release takes a path for the same route. The
// platform's parse_url drops a host, a fragment and control bytes. Where it cannot parse
// a path, some releases run the handler of another part (docs/platform I.4; I.8, V3;
// I.12, 1). It is as long as the target of a request may be.
func isPartPath(path string) bool {
	route, query, _ := strings.Cut(path, "?")
	return len(path) <= maxTarget && len(route) > 1 && len(route) <= maxRoute && route[0] == '/' && route[1] != '/' && between.PlainBytes.Holds(route) && printed.Holds(query) && !strings.ContainsAny(path, "#\\")
}

// printed are the bytes that are neither blank nor control.
var printed = func() *between.ByteSet {
	s := new(between.ByteSet)
	for c := '!'; c <= '~'; c++ {
		s[c] = true
	}
	return s
}()

// flattenRequests reads the batch of the core and of the checkout.
func (rd *Reader) flattenRequests(c *Call) *Refusal {
	requests, refusal := c.src.list("requests", rd.batchLimit(DefaultBatchLimit))
	if refusal != nil {
		return refusal // without the list the platform runs nothing
	}
	for _, request := range requests {
		p, refusal := rd.requestPart(c, request)
		if refusal != nil {
			return refusal
		}
		c.Parts = append(c.Parts, p)
	}
	return nil
}

func (rd *Reader) requestPart(c *Call, request any) (*Call, *Refusal) {
	fields, refusal := partOf(request)
	if refusal != nil {
		return nil, refusal
	}
	target, _, refusal := fields.get("path", scalar)
	if refusal != nil {
		return nil, refusal
	}
	path, ok := target.(string)
	if !ok || !isPartPath(path) || fields.branch != nil && between.Filtered(path) { // a variable, unlike JSON
		return nil, errBatch
	}
	route, query, _ := strings.Cut(path, "?")
	if !straight(route) {
		return nil, errBatch
	}
	method := http.MethodPost
	if v, set, _ := fields.get("method", scalar); set {
		if method, ok = v.(string); !ok || !writes(method) {
			return nil, errBatch
		}
	}
	own := new(part)
	if v, set := fields.raw("body"); set {
		if own, refusal = partOf(v); refusal != nil {
			return nil, refusal
		}
	}
	if uncertain(query) || rd.separated(query, nil) {
		return nil, errVariable
	}
	p := rd.newPart(c, route, method, query, own)
	if _, kind := rd.batchRoute(strings.TrimRight(p.Key, "/")); kind != noBatch {
		return nil, errNestedBatch
	}
	return p, nil
}

func (rd *Reader) newPart(c *Call, route, method, query string, own *part) *Call {
	src := &source{rd: rd, query: query, wire: c.Wire, method: method, part: own}
	if query == c.src.query {
		src.asked, src.changed = c.src.answers(), c.src.changed
	}
	return &Call{
		Kind: Single, Route: route, Key: routes.Key(route), Method: method, Wire: c.Wire, Form: c.Form, Base: c.Base, Rewritten: c.Rewritten,
		src: src,
	}
}

func (rd *Reader) batchLimit(otherwise int) int {
	if rd.site.Limits.Batch > 0 {
		return rd.site.Limits.Batch
	}
	return otherwise
}

// Embedded returns the call that the platform makes for a link whose target it embeds in
// the answer to c (WP_REST_Request::from_url). ok is false where no call is certain.
func (c *Call) Embedded(href string) (embedded *Call, ok bool) {
	u, err := url.Parse(href)
	if err != nil || c.src == nil {
		return nil, false
	}
	rd := c.src.rd
	route, set, refusal := routeIn(u.RawQuery, nil)
	if !set && refusal == nil {
		where := rd.readPath(u)
		route, refusal, set = where.route, where.refusal, where.isCall
	}
	route, plain := dispatched(route)
	if !set || refusal != nil || !plain || !straight(route) {
		return nil, false
	}
	return rd.newPart(c, route, http.MethodGet, u.RawQuery, new(part)), true
}
