package ordertype

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/idscan"
	"github.com/restwarden/restwarden/policies/policy"
)

// onePage is how many orders a list shows at most, and how many a batch of the shop may
// create unless a plugin raises that.
const onePage = 100

// plainParams are the parameters of the list of orders that its own schema names, and those
// that the platform itself takes for every route and that leave the records alone. None
// changes the type of what is listed (docs/platform III.3). A parameter of a plugin might.
var plainParams = []string{
	"_fields", "_locale", "after", "before", "context", "created_via", "customer", "dates_are_gmt", "dp",
	"exclude", "exclude_meta", "include", "include_meta", "modified_after", "modified_before", "offset", "order",
	"order_item_display_meta", "orderby", "page", "parent", "parent_exclude", "per_page", "product", "search", "status",
}

// Learn reads the ids of orders out of the answers that prove them: a list of orders, and
// what a creation made, alone or in the shop's own batch. One record that was read or updated
// proves nothing, since the order route answers for a subscription, too (docs/platform III.3).
func (p *OrderType) Learn(r *policy.Request) policy.Lesson {
	if p.notNeeded() {
		return nil
	}
	shape, most, status := idscan.List, onePage, http.StatusOK
	switch c := r.Call; {
	case c.Method == http.MethodGet && slices.Contains(p.lists, c.Key):
		if r.HTTP.ContentLength > 0 {
			return nil
		}
	case c.Method == http.MethodPost && slices.Contains(p.lists, c.Key):
		if shape, status, most = idscan.Object, http.StatusCreated, 1; r.HTTP.ContentLength < 0 || !createsNew(c) {
			return nil // to read a body of unknown length gives it one, which would change the request
		}
	case c.Method == http.MethodPost && c.Kind == call.Batch && slices.Contains(p.lists, strings.TrimSuffix(c.Key, "/batch")):
		if shape, most = idscan.Created, createdBy(c); most == 0 || most > onePage {
			return nil
		}
	default:
		return nil
	}
	if !p.plain(r) {
		return nil
	}
	l := orderLesson{Scanner: idscan.New(shape, most), status: status, key: p.factsOf(r), since: p.late.now(), store: r.Site.Store, late: &p.late}
	if shape == idscan.List {
		l.sent, l.header = seeBody(r.HTTP), p.site.Platform.TotalHeader()
	}
	return &l
}

// plain tells whether r is a call without anything that might change what its answer means.
func (p *OrderType) plain(r *policy.Request) bool {
	c := r.Call
	if c.Kind == call.Refused || c.Foreign || c.Posted || c.Wire != c.Method || r.IsPart || len(r.HTTP.Header["X-Http-Method-Override"]) > 0 {
		return false
	}
	names, certain := c.CertainQuery()
	for _, name := range names {
		switch {
		case slices.Contains(plainParams, name), p.site.IsCredential(name):
		case name == "rest_route" && c.Form == call.Query:
		default:
			return false
		}
	}
	return certain
}

// createsNew tells whether a creation names no id. The shop refuses one that does.
func createsNew(c *call.Call) bool {
	_, set, err := c.Scalar("id")
	return !set && err == nil
}

// createdBy returns how many orders a batch creates, and 0 for a batch that teaches nothing:
// one that names an id to create, or that deletes.
func createdBy(batch *call.Call) (n int) {
	for _, part := range batch.Parts {
		switch part.Method {
		case http.MethodPost:
			if !createsNew(part) {
				return 0
			}
			n++
		case http.MethodDelete:
			return 0
		}
	}
	return n
}

// orderLesson reads the answer to one call.
type orderLesson struct {
	*idscan.Scanner
	sent   *seenBody // of a call that must have none; nil if that is certain
	status int
	header string // that the platform's own answer has; "" for any
	key    string // what the keys of proofs begin with
	since  moment
	store  proofStore
	late   *lateProofs
}

// Begin implements [policy.Lesson]. An answer that a cache has kept is as old as the cache likes. In the
// query form a file may stand at the path of the call.
func (l *orderLesson) Begin(a *ask.Answer) bool {
	if a.Status != l.status || len(a.Header["Content-Type"]) != 1 || l.header != "" && a.Header.Get(l.header) == "" {
		return false
	}
	for _, name := range []string{"Age", "Cache-Status", "Content-Range"} {
		if len(a.Header[name]) > 0 {
			return false
		}
	}
	kind, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	charset, other := params["charset"]
	return err == nil && kind == "application/json" && (!other || strings.EqualFold(charset, "utf-8"))
}

// End implements [policy.Lesson]. Of an answer that breaks off nothing is believed: what follows may
// be an error in the middle of a list.
func (l *orderLesson) End(whole bool) {
	ids := l.IDs()
	if !whole || len(ids) == 0 || !l.sent.empty() {
		return
	}
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = factKey(l.key, id)
	}
	l.late.keep(l.store, l.since, keys)
}
