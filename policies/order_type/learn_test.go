package ordertype

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// The answers that the lessons of these tests get.
const (
	listAnswer    = `[{"id":7,"line_items":[{"id":13}]},{"id":8}]`
	createdAnswer = `{"id":7,"line_items":[{"id":13}]}`
	batchAnswer   = `{"create":[{"id":7},{"id":0,"error":{"code":"x"}}],"update":[{"id":13}]}`
)

// teach gives r the answer of the platform, and returns the ids that are then proven.
func teach(tb testing.TB, p *OrderType, r *policy.Request, status int, body string, headers ...string) (proven []uint64) {
	tb.Helper()
	lesson := p.Learn(r)
	if lesson == nil {
		return nil
	}
	header := http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "X-Wp-Total": {"2"}}
	for _, h := range headers {
		if name, value, _ := strings.Cut(h, ": "); value != "" {
			header.Add(name, value)
		} else {
			header.Del(name)
		}
	}
	if lesson.Begin(&ask.Answer{Status: status, Header: header}) {
		_, _ = lesson.Write([]byte(body))
		lesson.End(true)
	}
	for _, id := range []uint64{7, 8, 13, 21} {
		if p.proven(tb.Context(), r, factKey(p.factsOf(r), id)) {
			proven = append(proven, id)
		}
	}
	return proven
}

const ordersRoute = "/wp-json/wc/v3/orders"

// TestOrderType_LearnsUnread: a creation whose body has no length yet goes on as it came.
func TestOrderType_LearnsUnread(t *testing.T) {
	for _, test := range []struct {
		name, kind, body string
		want             []uint64
	}{
		{"JSON", policytest.JSONType, `{"status":"pending"}`, nil},
		{"a form, which the reading has read", policytest.FormType, "status=pending", []uint64{7}},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, nil, "POST", ordersRoute, "", test.kind, policytest.BasicAuth)
		r.HTTP.Body, r.HTTP.ContentLength = io.NopCloser(strings.NewReader(test.body)), -1
		r.Call = call.NewReader(call.Config{Platform: s.Platform}).Read(r.HTTP, nil)
		r.Whole.Call = r.Call
		before := r.HTTP.ContentLength
		if got := teach(t, p, r, http.StatusCreated, createdAnswer); !slices.Equal(got, test.want) {
			t.Errorf("%s: proven %v, want %v", test.name, got, test.want)
		}
		if body, err := io.ReadAll(r.HTTP.Body); r.HTTP.ContentLength != before || string(body) != test.body || err != nil {
			t.Errorf("%s: length %d has become %d; %q, %v", test.name, before, r.HTTP.ContentLength, body, err)
		}
		r.Call.Close()
	}
}

func TestOrderType_Learns(t *testing.T) {
	ids := func(ids ...uint64) []uint64 { return ids }
	for name, test := range map[string]struct {
		line, body string
		headers    []string
		answer     string
		want       []uint64
	}{
		"a list":              {"GET " + ordersRoute, "", nil, listAnswer, ids(7, 8)},
		"a list of v2":        {"GET /wp-json/wc/v2/orders", "", nil, listAnswer, ids(7, 8)},
		"another spelling":    {"GET /wp-json/WC/v3/Orders/", "", nil, listAnswer, ids(7, 8)},
		"a list, query form":  {"GET /?rest_route=/wc/v3/orders&per_page=5", "", nil, listAnswer, ids(7, 8)},
		"parameters":          {"GET " + ordersRoute + "?per_page=100&page=2&status[]=any&status%5B%5D=trash&_fields=id&orderby=id&modified_after=x&_wpnonce=x&consumer_key=ck&consumer_secret=cs", "", nil, listAnswer, ids(7, 8)},
		"OAuth 1":             {"GET " + ordersRoute + "?oauth_consumer_key=x&oauth_nonce=x&oauth_signature=x&oauth_signature_method=x&oauth_timestamp=1", "", nil, listAnswer, ids(7, 8)},
		"a creation":          {"POST " + ordersRoute, `{"status":"pending","line_items":[{"id":13}]}`, []string{policytest.JSONType}, createdAnswer, ids(7)},
		"a creation, form":    {"POST " + ordersRoute, `status=pending`, []string{policytest.FormType}, createdAnswer, ids(7)},
		"a creation, no body": {"POST " + ordersRoute, ``, nil, createdAnswer, ids(7)},
		"a batch":             {"POST " + ordersRoute + "/batch", `{"create":[{},{}],"update":[{"id":13}]}`, []string{policytest.JSONType}, batchAnswer, ids(7)},

		"one order":             {"GET " + ordersRoute + "/7", "", nil, createdAnswer, nil},
		"an update":             {"PUT " + ordersRoute + "/7", "{}", []string{policytest.JSONType}, createdAnswer, nil},
		"an update by POST":     {"POST " + ordersRoute + "/7", "{}", []string{policytest.JSONType}, createdAnswer, nil},
		"notes":                 {"GET " + ordersRoute + "/7/notes", "", nil, listAnswer, nil},
		"refunds":               {"GET " + ordersRoute + "/7/refunds", "", nil, listAnswer, nil},
		"v1":                    {"GET /wp-json/wc/v1/orders", "", nil, listAnswer, nil},
		"analytics":             {"GET /wp-json/wc-analytics/orders", "", nil, listAnswer, nil},
		"subscriptions":         {"GET /wp-json/wc/v3/subscriptions", "", nil, listAnswer, nil},
		"products":              {"GET /wp-json/wc/v3/products", "", nil, listAnswer, nil},
		"another plugin":        {"GET /wp-json/my/wc/v3/orders", "", nil, listAnswer, nil},
		"HEAD":                  {"HEAD " + ordersRoute, "", nil, listAnswer, nil},
		"OPTIONS":               {"OPTIONS " + ordersRoute, "", nil, listAnswer, nil},
		"a list by PUT":         {"PUT " + ordersRoute, "{}", []string{policytest.JSONType}, listAnswer, nil},
		"_method":               {"POST " + ordersRoute + "?_method=GET", "", nil, listAnswer, nil},
		"_method, the same":     {"GET " + ordersRoute + "?_method=GET", "", nil, listAnswer, nil},
		"an override":           {"POST " + ordersRoute, "", []string{policytest.Override + "GET"}, listAnswer, nil},
		"an override, the same": {"GET " + ordersRoute, "", []string{policytest.Override + "GET"}, listAnswer, nil},
		"GET with a body":       {"GET " + ordersRoute, `{"type":"x"}`, []string{policytest.JSONType}, listAnswer, nil},
		"_envelope":             {"GET " + ordersRoute + "?_envelope", "", nil, listAnswer, nil},
		"_jsonp":                {"GET " + ordersRoute + "?_jsonp=f", "", nil, listAnswer, nil},
		"_embed":                {"GET " + ordersRoute + "?_embed", "", nil, listAnswer, nil},
		"a plugin's parameter":  {"GET " + ordersRoute + "?type=shop_subscription", "", nil, listAnswer, nil},
		"an odd spelling":       {"GET " + ordersRoute + "?per_page=1&.jsonp=f", "", nil, listAnswer, nil},
		"beyond PHP's limits":   {"GET " + ordersRoute + "?" + strings.Repeat("page=1&", 1001), "", nil, listAnswer, nil},
		"brackets that differ":  {"GET " + ordersRoute + "?page[=1", "", nil, listAnswer, nil},
		"the other prefix":      {"GET /cms-json/shop/v3/orders", "", nil, listAnswer, nil},
		"route in a form":       {"POST /", "rest_route=/wc/v3/orders", []string{policytest.FormType}, createdAnswer, nil},

		"a creation with an id":         {"POST " + ordersRoute, `{"id":7}`, []string{policytest.JSONType}, createdAnswer, nil},
		"a creation with an empty id":   {"POST " + ordersRoute, `{"id":""}`, []string{policytest.JSONType}, createdAnswer, nil},
		"a creation with an id, escape": {"POST " + ordersRoute, `{"\u0069d":7}`, []string{policytest.JSONType}, createdAnswer, nil},
		"a creation with an id, form":   {"POST " + ordersRoute, `id=7`, []string{policytest.FormType}, createdAnswer, nil},
		"a creation with an id, query":  {"POST " + ordersRoute + "?id=7", `{}`, []string{policytest.JSONType}, createdAnswer, nil},
		"a creation that is no JSON":    {"POST " + ordersRoute, `{"id"`, []string{policytest.JSONType}, createdAnswer, nil},
		"a batch with an id to create":  {"POST " + ordersRoute + "/batch", `{"create":[{},{"id":7}]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"a batch with a delete":         {"POST " + ordersRoute + "/batch", `{"create":[{},{}],"delete":[7]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"a batch without creations":     {"POST " + ordersRoute + "/batch", `{"update":[{"id":13}]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"a batch that creates more":     {"POST " + ordersRoute + "/batch", `{"create":[{}]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"a batch by PUT":                {"PUT " + ordersRoute + "/batch", `{"create":[{},{}]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"a batch of products":           {"POST /wp-json/wc/v3/products/batch", `{"create":[{},{}]}`, []string{policytest.JSONType}, batchAnswer, nil},
		"the core's batch":              {"POST /wp-json/batch/v1", `{"requests":[{"method":"GET","path":"/wc/v3/orders"}]}`, []string{policytest.JSONType}, listAnswer, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			method, target, _ := strings.Cut(test.line, " ")
			r := policytest.Request(t, s, nil, method, target, test.body, append(test.headers, policytest.BasicAuth)...)
			status := map[string]int{listAnswer: 200, createdAnswer: 201, batchAnswer: 200}[test.answer]
			if got := teach(t, p, r, status, test.answer); !slices.Equal(got, test.want) {
				t.Errorf("proven: %v, want %v", got, test.want)
			}
		})
	}
}

// TestOrderType_LearnsFromNoOtherAnswer: the head of an answer says whether it is what it
// seems.
func TestOrderType_LearnsFromNoOtherAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		line   string
		status int
		header string
		want   int
	}{
		"a list":                 {"GET " + ordersRoute, 200, "X-WP-Total: 2", 2},
		"not the platform's":     {"GET " + ordersRoute, 200, "X-WP-Total: ", 0},
		"a list, created":        {"GET " + ordersRoute, 201, "", 0},
		"no rights":              {"GET " + ordersRoute, 401, "", 0},
		"partial":                {"GET " + ordersRoute, 206, "", 0},
		"part of it":             {"GET " + ordersRoute, 200, "Content-Range: bytes 0-7/9", 0},
		"unchanged":              {"GET " + ordersRoute, 304, "", 0},
		"an accident":            {"GET " + ordersRoute, 500, "", 0},
		"from a cache":           {"GET " + ordersRoute, 200, "Age: 0", 0},
		"from a cache of Caddy":  {"GET " + ordersRoute, 200, "Cache-Status: Souin; hit", 0},
		"two types":              {"GET " + ordersRoute, 200, "Content-Type: application/json", 0},
		"a creation as a list":   {"POST " + ordersRoute, 201, "", 0},
		"a creation that is not": {"POST " + ordersRoute, 200, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			method, target, _ := strings.Cut(test.line, " ")
			var headers []string
			if test.header != "" {
				headers = []string{test.header}
			}
			r := policytest.Request(t, s, nil, method, target, "", policytest.BasicAuth)
			if got := teach(t, p, r, test.status, listAnswer, headers...); len(got) != test.want {
				t.Errorf("proven: %v", got)
			}
		})
	}
	for kind, want := range map[string]bool{
		"application/json": true, "Application/JSON;charset=\"utf-8\"": true, "application/json; charset=ISO-8859-1": false,
		"text/html; charset=UTF-8": false, "application/javascript": false, "application/problem+json": false, "": false, "application/json; =": false,
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		lesson := p.Learn(policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth))
		if got := lesson.Begin(&ask.Answer{Status: 200, Header: http.Header{"Content-Type": {kind}, "X-Wp-Total": {"2"}}}); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

// TestOrderType_LearnsWhereItAsks: what is learned counts for the shop and the way that it was
// learned on, as what is asked does.
func TestOrderType_LearnsWhereItAsks(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	backend := policytest.Shop(nil)
	on := func(host, method, target, body string) *policy.Request {
		r := policytest.Request(t, s, backend, method, target, body, policytest.JSONType, policytest.BasicAuth)
		r.HTTP.Host = host
		return r
	}
	if got := teach(t, p, on("shop.example", "GET", ordersRoute, ""), 200, `[{"id":7}]`); len(got) != 1 {
		t.Fatal(got)
	}
	asked := func(host, target string) bool {
		t.Helper()
		before := len(backend.Questions())
		if v, err := p.Check(t.Context(), on(host, "PUT", target, "{}")); err != nil || v.Refused() {
			t.Fatal(v, err)
		}
		return len(backend.Questions()) > before
	}
	if asked("shop.example", ordersRoute+"/7") {
		t.Error("asks about a listed order")
	}
	if asked("shop.example", "/wp-json/wc/v2/orders/7") {
		t.Error("asks about a listed order, v2")
	}
	for _, host := range []string{"other.example", "shop.example:81", "SHOP.example"} {
		if !asked(host, ordersRoute+"/7") {
			t.Errorf("%s: believes the list of another shop", host)
		}
	}
	forwarded := on("shop.example", "PUT", ordersRoute+"/7", "{}")
	forwarded.HTTP.Header.Set("X-Forwarded-Host", "other.example")
	if p.proven(t.Context(), forwarded, factKey(p.factsOf(forwarded), 7)) {
		t.Error("believes the list of another shop behind the proxy")
	}
	for _, target := range []string{"/?rest_route=/wc/v3/orders/7", "/blog/wp-json/wc/v3/orders/7"} {
		if !asked("shop.example", target) {
			t.Errorf("%s: believes the list of another way", target)
		}
	}
	if got := teach(t, p, on("shop.example", "GET", "/folder?rest_route=/wc/v3/orders", ""), 200, `[{"id":7}]`); len(got) != 1 {
		t.Fatal(got)
	}
	if !asked("shop.example", "/folder/wp-json/wc/v3/orders/7") {
		t.Error("believes the list of another form")
	}
}

// TestOrderType_LearnsNothingWhereItIsNotNeeded: a release that checks by itself costs nothing.
func TestOrderType_LearnsNothingWhereItIsNotNeeded(t *testing.T) {
	for release, named := range map[string]map[bool]bool{"auto": {false: true, true: true}, "10.7": {false: true}, "10.8": {false: false, true: true}} {
		for name, want := range named {
			s := policytest.NewSite(t)
			s.Release, _ = policy.ParseRelease(release)
			p := policytest.Provision(t, s, new(OrderType), policy.Settings{Named: name})
			if got := p.Learn(policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth)) != nil; got != want {
				t.Errorf("release %s, named %v: learns %v", release, name, got)
			}
		}
	}
}

// TestOrderType_LearnsFromTheWhole: of an answer that breaks off nothing is believed, even if
// the list itself seems whole.
func TestOrderType_LearnsFromTheWhole(t *testing.T) {
	for name, test := range map[string]struct {
		body  string
		whole bool
		want  bool
	}{
		"whole":                  {`[{"id":7}]`, true, true},
		"broken off":             {`[{"id":7},{"id":8`, false, false},
		"broken off, no mistake": {`[{"id":7},{"id":8`, true, false},
		"broken off at its end":  {`[{"id":7}]`, false, false},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth)
		lesson := p.Learn(r)
		lesson.Begin(&ask.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "X-Wp-Total": {"2"}}})
		_, _ = lesson.Write([]byte(test.body))
		lesson.End(test.whole)
		if got := p.proven(t.Context(), r, factKey(p.factsOf(r), 7)); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestOrderType_LearnsWithoutALength: a list that was asked for without an announced length
// counts only if there was certainly no body (HTTP/3).
func TestOrderType_LearnsWithoutALength(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		read int // bytes that the next handler asks for
		want bool
	}{
		"no body":       {"", 10, true},
		"a body":        {"{}", 10, false},
		"not read":      {"", 0, false},
		"not read, all": {"{}", 1, false},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth)
		r.HTTP.Body, r.HTTP.ContentLength = io.NopCloser(strings.NewReader(test.body)), -1
		lesson := p.Learn(r)
		if test.read > 0 {
			sent, _ := io.ReadAll(io.LimitReader(r.HTTP.Body, int64(test.read)))
			if !strings.HasPrefix(test.body, string(sent)) {
				t.Errorf("%s: the next handler gets %q", name, sent)
			}
		}
		lesson.Begin(&ask.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "X-Wp-Total": {"2"}}})
		_, _ = lesson.Write([]byte(`[{"id":7}]`))
		lesson.End(true)
		if got := p.proven(t.Context(), r, factKey(p.factsOf(r), 7)); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestOrderType_SubscriptionIsNeverLearned: whatever anybody reads, creates or updates before,
// the update of a subscription is refused.
func TestOrderType_SubscriptionIsNeverLearned(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	nested := `{"id":7,"parent_id":13,"number":"13","customer_id":13,"customer_note":"[{\"id\":13}]","meta_data":[{"id":13,"key":"id","value":{"id":13}}],` +
		`"line_items":[{"id":13}],"refunds":[{"id":13}],"_links":{"up":[{"href":"/13"}]},"_embedded":{"up":[{"id":13}]}}`
	for line, answer := range map[string]string{
		"GET " + ordersRoute:                                      "[" + nested + "]",
		"GET " + ordersRoute + "/13":                              `{"id":13}`,
		"GET " + ordersRoute + "?include=13":                      `[]`,
		"GET /wp-json/wc/v3/subscriptions":                        `[{"id":13}]`,
		"GET /wp-json/wc/v3/subscriptions/13":                     `{"id":13}`,
		"PUT " + ordersRoute + "/13":                              `{"id":13}`,
		"POST " + ordersRoute:                                     nested,
		"POST " + ordersRoute + "?id=13":                          `{"id":13}`,
		"POST " + ordersRoute + "/batch":                          `{"create":[` + nested + `],"update":[{"id":13}],"delete":[{"id":13}]}`,
		"GET " + ordersRoute + "?_envelope=1":                     `{"body":[{"id":13}],"status":200}`,
		"GET " + ordersRoute + "?type=anything":                   `[{"id":13}]`,
		"GET " + ordersRoute + "?rest_route=/wc/v3/subscriptions": `[{"id":13}]`,
	} {
		method, target, _ := strings.Cut(line, " ")
		body := ""
		if strings.HasSuffix(target, "batch") {
			body = `{"create":[{}],"update":[{"id":7}]}`
		}
		for _, status := range []int{200, 201} {
			r := policytest.Request(t, s, nil, method, target, body, policytest.JSONType, policytest.BasicAuth)
			if got := teach(t, p, r, status, answer); slices.Contains(got, 13) {
				t.Errorf("%s, %d: proven: %v", line, status, got)
			}
		}
	}
	v, err := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", ordersRoute+"/13", "{}", policytest.JSONType, policytest.BasicAuth))
	if err != nil || !v.Refused() {
		t.Errorf("the subscription is updated: %+v, %v", v, err)
	}
}

// TestOrderType_AllowsNoDecisiveParameter: no parameter of the list decides what a call is.
func TestOrderType_AllowsNoDecisiveParameter(t *testing.T) {
	s := policytest.NewSite(t)
	for _, name := range slices.Concat([]string{"rest_route", "id"}, []string{"_method", "_envelope", "_jsonp", "_embed", "id", "type", "post_type"}) {
		if slices.Contains(plainParams, name) || s.IsCredential(name) {
			t.Errorf("%s is on the list", name)
		}
	}
	for _, p := range platforms.All() {
		if p.NonceParam == "" {
			t.Errorf("%s has no nonce", p.Name)
		}
	}
}
