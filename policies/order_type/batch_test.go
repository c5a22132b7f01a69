package ordertype

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/shop"
)

// shelf answers like a shop whose records have a type and a status (docs/platform III.3).
type shelf struct {
	records map[uint64]string // "order trash", "subscription active"
	listed  []string          // statuses that the list knows, beside any
	v3      bool              // there are routes of v3
	fault   map[string]*ask.Answer

	mu    sync.Mutex
	notes map[uint64]bool // asked about one by one
}

// usual are the statuses that "any" stands for.
var usual = []string{"pending", "processing", "completed"}

func (s *shelf) Answer(q ask.Question) (*ask.Answer, error) {
	if a := s.fault[q.Route]; a != nil {
		return a, nil
	}
	path := strings.Split(strings.Trim(q.Route, "/"), "/") // wc v3 orders …
	if path[1] == "v3" && !s.v3 {
		return asktest.JSON(404, `{"code":"rest_no_route"}`), nil
	}
	if len(path) == 3 {
		return s.list(q.Query), nil
	}
	var id uint64
	_, _ = fmt.Sscan(path[3], &id)
	kind, _, _ := strings.Cut(s.records[id], " ")
	notes := len(path) > 4
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes[id] = s.notes[id] || notes
	switch {
	case notes && kind == "order":
		return asktest.JSON(404, `{"code":"woocommerce_rest_invalid_id"}`), nil
	case notes:
		return asktest.JSON(404, `{"code":"woocommerce_rest_order_invalid_id"}`), nil
	case kind == "":
		return asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`), nil
	}
	return asktest.JSON(200, `{"id":`+path[3]+`}`), nil
}

func (s *shelf) list(query string) *ask.Answer {
	values, _ := url.ParseQuery(query)
	statuses := []string{values.Get("status")}
	switch {
	case statuses[0] == "any":
		statuses = usual
	case !slices.Contains(s.listed, statuses[0]):
		return asktest.JSON(400, `{"code":"rest_invalid_param"}`)
	}
	var found []string
	for text := range strings.SplitSeq(values.Get("include"), ",") {
		var id uint64
		_, _ = fmt.Sscan(text, &id)
		kind, status, _ := strings.Cut(s.records[id], " ")
		if kind == "order" && slices.Contains(statuses, status) {
			found = append(found, `{"id":`+text+`}`)
		}
	}
	return asktest.JSON(200, "["+strings.Join(found[:min(len(found), 100)], ",")+"]")
}

// batchOf is a shelf with records from id 100 on, and a batch that updates all of them.
func batchOf(records ...string) (*shelf, string) {
	s := &shelf{records: map[uint64]string{}, listed: []string{"trash", "checkout-draft", "auto-draft"}, v3: true, notes: map[uint64]bool{}}
	var items []string
	for i, r := range records {
		s.records[uint64(100+i)] = r
		items = append(items, fmt.Sprintf(`{"id":%d}`, 100+i))
	}
	return s, `{"update":[` + strings.Join(items, ",") + `]}`
}

func TestOrderType_BatchQuestions(t *testing.T) {
	all := func(n int, r string) []string { return slices.Repeat([]string{r}, n) }
	mix := slices.Concat(all(40, "order completed"), all(30, "order trash"), all(28, "order checkout-draft"))
	for name, test := range map[string]struct {
		records []string
		refused int // at least so many ids are named
		asked   int // at most
	}{
		"orders":                              {all(100, "order pending"), 0, 1},
		"trashed orders":                      {all(100, "order trash"), 0, 2},
		"drafts of the checkout":              {all(100, "order checkout-draft"), 0, 3},
		"automatic drafts":                    {all(100, "order auto-draft"), 0, 4},
		"orders that no list shows":           {all(100, "order no-such-status"), 0, 105},
		"a mix of orders":                     {mix, 0, 3},
		"subscriptions":                       {all(100, "subscription active"), 4, 19},
		"subscriptions in the trash":          {all(100, "subscription trash"), 4, 19},
		"no records":                          {all(100, ""), 0, 110},
		"a mix and a subscription":            {append(mix, "subscription trash"), 1, 5},
		"a subscription among missing ids":    {append(all(99, ""), "subscription active"), 1, 112},
		"a subscription among hidden orders":  {append(all(99, "order x"), "subscription active"), 1, 106},
		"subscriptions among orders, missing": {slices.Repeat([]string{"order pending", "", "subscription active", "order draft"}, 25), 4, 40},
		"two":                                 {all(2, "order trash"), 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			shop, body := batchOf(test.records...)
			backend := &asktest.Platform{Answer: shop.Answer}
			v, err := p.CheckBatch(t.Context(), policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.BasicAuth))
			if err != nil || v.Refused() != (test.refused > 0) {
				t.Fatalf("got %+v, %v", v, err)
			}
			ids, _ := v.Data["ids"].([]uint64)
			if len(ids) < test.refused || !slices.IsSorted(ids) || len(v.Parts) != len(ids) {
				t.Errorf("names %v, %d parts", ids, len(v.Parts))
			}
			for _, id := range ids {
				if !strings.HasPrefix(shop.records[id], "subscription") {
					t.Errorf("names %d, which is %q", id, shop.records[id])
				}
			}
			t.Logf("%d questions", len(backend.Questions()))
			if n := len(backend.Questions()); n > test.asked {
				t.Errorf("%d questions, want %d at most", n, test.asked)
			}
		})
	}
}

// TestOrderType_BatchOfSubscriptions: the five lists show nothing. While the fourth record is
// asked about, three more are, each by two questions. The last one asks whether the key writes.
func TestOrderType_BatchOfSubscriptions(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	shop, body := batchOf(slices.Repeat([]string{"subscription active"}, 100)...)
	var late []string // the last ones that are under way together
	for id := range atOnce {
		late = append(late, fmt.Sprintf("/wc/v3/orders/%d/notes/0", 103+id))
	}
	var together sync.WaitGroup
	together.Add(len(late))
	backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if slices.Contains(late, q.Route) {
			together.Done()
			together.Wait()
		}
		return shop.Answer(q)
	}}
	r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.ShopKey)
	if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Status != 400 {
		t.Errorf("got %+v, %v", v, err)
	}
	page, err := os.ReadFile("../../docs/policies/order_type.md")
	if err != nil {
		t.Fatal(err)
	}
	if row := fmt.Sprintf("| subscriptions | up to %d |", len(backend.Questions())); !strings.Contains(string(page), row) {
		t.Errorf("docs/policies/order_type.md has no row %s", row)
	}
}

// TestOrderType_LongBatch: a list shows 100 orders at most, and batch_limit may allow more.
func TestOrderType_LongBatch(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	all, _ := batchOf(slices.Repeat([]string{"order trash"}, 250)...)
	backend := &asktest.Platform{Answer: all.Answer}
	r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/100", `{}`, policytest.JSONType, policytest.BasicAuth)
	found, err := p.recordsOf(t.Context(), r, shop.Asker(r.Ask), slices.Sorted(maps.Keys(all.records)))
	if n := len(backend.Questions()); err != nil || len(found.others) > 0 || n != 6 {
		t.Errorf("got %+v, %v after %d questions", found, err, n)
	}
}

// TestOrderType_BatchProves: an id passes as an order only by a list or by its note, however
// the platform answers the other questions.
func TestOrderType_BatchProves(t *testing.T) {
	const list = "/wc/v3/orders"
	records := []string{"subscription active", "subscription trash", "order trash", "order draft", "", "", "subscription active"}
	for name, fault := range map[string]map[string]*ask.Answer{
		"none":                        nil,
		"no list":                     {list: asktest.JSON(500, "")},
		"an empty list":               {list: asktest.JSON(200, "[]")},
		"a list of other ids":         {list: asktest.JSON(200, `[{"id":1},{"id":2}]`)},
		"a list of something else":    {list: asktest.JSON(200, `["100"]`)},
		"one note without a proof":    {"/wc/v3/orders/103/notes/0": asktest.JSON(200, "[]")},
		"all others without a record": {"/wc/v3/orders/100": asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`), "/wc/v3/orders/101": asktest.JSON(404, `{"code":"x"}`)},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		shop, body := batchOf(records...)
		shop.fault = fault
		r := policytest.Request(t, s, &asktest.Platform{Answer: shop.Answer}, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.BasicAuth)
		if v, err := p.CheckBatch(t.Context(), r); err == nil && !v.Refused() {
			t.Errorf("%s: passes", name)
		}
	}
	for _, fault := range []*ask.Answer{asktest.JSON(404, "<html>"), asktest.JSON(404, `{"code":"x"}`), asktest.JSON(200, "[]"), asktest.JSON(403, "firewall")} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		shop, body := batchOf("", "", "", "", "", "order draft")
		shop.fault = map[string]*ask.Answer{"/wc/v3/orders/105/notes/0": fault}
		r := policytest.Request(t, s, &asktest.Platform{Answer: shop.Answer}, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.BasicAuth)
		if v, err := p.CheckBatch(t.Context(), r); err == nil {
			t.Errorf("an id without a proof after missing ones: got %+v", v)
		}
	}
}

// TestOrderType_ProvenBeatsUnanswered: a record that is not an order refuses the batch, also
// where another question has no answer.
func TestOrderType_ProvenBeatsUnanswered(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	shop, body := batchOf("subscription active", "order draft")
	shop.fault = map[string]*ask.Answer{"/wc/v3/orders/101/notes/0": asktest.JSON(200, "[]")}
	waits := make(chan struct{})
	backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if strings.HasPrefix(q.Route, "/wc/v3/orders/101/") {
			<-waits
		} else if !strings.HasSuffix(q.Route, "/notes/0") {
			defer close(waits)
		}
		return shop.Answer(q)
	}}
	r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.BasicAuth)
	if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Status != 400 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestOrderType_RouteOfTheCall: the route of the call decides whether a record is missing. A
// route that does not exist is left to the platform; other routes may still show the record.
func TestOrderType_RouteOfTheCall(t *testing.T) {
	const missingID = `{"code":"woocommerce_rest_shop_order_invalid_id"}`
	noRoute := asktest.JSON(404, `{"code":"rest_no_route"}`)
	for name, test := range map[string]struct {
		target string
		record string
		v3     bool
		fault  map[string]*ask.Answer
		status int
	}{
		"v2, missing":                           {"/wp-json/wc/v2/orders/100", "", true, nil, 400},
		"analytics, missing":                    {"/wp-json/wc-analytics/orders/100", "", true, map[string]*ask.Answer{"/wc-analytics/orders/100": asktest.JSON(404, missingID)}, 400},
		"no analytics, missing":                 {"/wp-json/wc-analytics/orders/100", "", true, map[string]*ask.Answer{"/wc-analytics/orders/100": noRoute}, 0},
		"no analytics, a subscription":          {"/wp-json/wc-analytics/orders/100", "subscription active", true, map[string]*ask.Answer{"/wc-analytics/orders/100": noRoute}, 400},
		"no v3, a subscription through v2":      {"/wp-json/wc/v2/orders/100", "subscription active", false, map[string]*ask.Answer{"/wc/v1/orders/100": asktest.JSON(404, missingID)}, 400},
		"no shop":                               {"/wp-json/wc/v3/orders/100", "", false, map[string]*ask.Answer{"/wc/v1/orders/100": noRoute}, 0},
		"no v3, v1 finds nothing":               {"/wp-json/wc/v3/orders/100", "", false, map[string]*ask.Answer{"/wc/v1/orders/100": asktest.JSON(404, missingID)}, 0},
		"an outdated nonce, refused with a 400": {"/wp-json/wc/v3/orders/100", "", true, map[string]*ask.Answer{"/wc/v3/orders/100/notes/0": asktest.JSON(400, `{"code":"rest_cookie_invalid_nonce"}`)}, 400},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		all, _ := batchOf(test.record)
		all.v3, all.fault = test.v3, test.fault
		v, err := p.Check(t.Context(), policytest.Request(t, s, &asktest.Platform{Answer: all.Answer}, "PUT", test.target, `{}`, policytest.JSONType, policytest.BasicAuth))
		if err != nil || v.Status != test.status || (v.Answer != nil) != strings.Contains(name, "nonce") {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

// BenchmarkOrderType_Batch reports how many questions a batch of 100 ids costs.
func BenchmarkOrderType_Batch(b *testing.B) {
	for _, record := range []string{"order pending", "order trash", "order checkout-draft", "order draft", "subscription active", ""} {
		b.Run(strings.ReplaceAll("record "+record, " ", "-"), func(b *testing.B) {
			asked := 0
			for b.Loop() {
				s := policytest.NewSite(b)
				p := policytest.Provision(b, s, new(OrderType))
				shop, body := batchOf(slices.Repeat([]string{record}, 100)...)
				backend := &asktest.Platform{Answer: shop.Answer}
				_, _ = p.CheckBatch(b.Context(), policytest.Request(b, s, backend, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType, policytest.BasicAuth))
				asked += len(backend.Questions())
			}
			b.ReportMetric(float64(asked)/float64(b.N), "questions/op")
		})
	}
}
