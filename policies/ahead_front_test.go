package policies

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// front is a shop (docs/platform III.3, III.8) in which 7, 8 and 9 are orders, 10 is one in the
// trash, 13 is a subscription, and nothing else is there.
type front struct {
	who, orders *ask.Answer                                               // users/me, and what the shop's routes say in place of their own answer
	strict      bool                                                      // refuses lists with ids
	wait        func(ctx context.Context, q *ask.Question) error          // before an answer; may be nil
	edit        func(q *ask.Question, a *ask.Answer) (*ask.Answer, error) // may be nil

	mu          sync.Mutex
	asked       []string
	under, most int
}

func (f *front) Detach() ask.Backend { return f }

func (f *front) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	name := strings.TrimPrefix(q.Method+" ", "GET ") + strings.TrimPrefix(q.Route, "/wc/v3/orders")
	if values, err := url.ParseQuery(q.Query); err == nil && values.Has("include") {
		name += "?" + values.Get("include")
	}
	f.count(1, strings.TrimSpace(name))
	defer f.count(-1)
	if f.wait != nil {
		if err := f.wait(ctx, &q); err != nil {
			return nil, err
		}
	}
	a := f.answer(&q)
	if f.edit != nil {
		return f.edit(&q, a)
	}
	return a, nil
}

func (f *front) count(n int, asked ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.under += n
	f.most = max(f.most, f.under)
	f.asked = append(f.asked, asked...)
}

// list returns what was asked, in the order of the alphabet.
func (f *front) list() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := slices.Sorted(slices.Values(f.asked))
	return strings.Join(asked, ", ")
}

func (f *front) answer(q *ask.Question) *ask.Answer {
	values, _ := url.ParseQuery(q.Query)
	listed := func(id string) bool { return id == "7" || id == "8" || id == "9" }
	of, note := strings.CutSuffix(strings.TrimPrefix(q.Route, "/wc/v3/orders/"), "/notes/0")
	code := func(code string) *ask.Answer {
		return asktest.JSON(http.StatusNotFound, `{"code":"woocommerce_rest_`+code+`"}`)
	}
	switch {
	case q.Route == "/wp/v2/users/me":
		return f.who
	case f.orders != nil:
		return f.orders
	case q.Route == "/wc/v3/orders" && f.strict && values.Has("include"):
		return asktest.JSON(http.StatusBadRequest, `{"code":"rest_invalid_param"}`)
	case q.Route == "/wc/v3/orders" && listed(values.Get("include")):
		return asktest.JSON(http.StatusOK, `[{"id":`+values.Get("include")+`}]`)
	case q.Route == "/wc/v3/orders":
		return asktest.JSON(http.StatusOK, `[]`)
	case note && (listed(of) || of == "10"):
		return code("invalid_id")
	case note:
		return code("order_invalid_id")
	case listed(of), of == "10", of == "13":
		return asktest.JSON(http.StatusOK, `{"id":`+of+`}`)
	}
	return code("shop_order_invalid_id")
}

// membersOnly is a chain for a site where everything needs a login, beside more lines.
func membersOnly(t *testing.T, options caller.Options, lines ...policy.Option) (*policy.Site, *policy.Chain) {
	t.Helper()
	s := policytest.NewSite(t)
	ids, err := caller.NewIdentities(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Identities = ids
	return s, policytest.Guarded(t, s, Catalog, append(lines, policytest.Line("login_only"))...)
}

func update(t *testing.T, s *policy.Site, f *front, order string, headers ...string) *policy.Request {
	t.Helper()
	r := policytest.Request(t, s, f, "PUT", "/wp-json/wc/v3/orders/"+order, `{}`, append(headers, policytest.JSONType)...)
	r.Secure = true
	return r
}

var (
	unknownKey = asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`)
	wrongKey   = asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"Consumer secret is invalid."}`)
	writeKey   = asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`)
	customers  = asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`)
	manager    = asktest.JSON(200, policytest.AdminBody)
	wrongLogin = asktest.JSON(401, `{"code":"incorrect_password"}`)
)

func (f *front) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.under
}

// others tells whether no more than n questions have been asked.
func (f *front) others(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked) <= n
}

func verdictStatus(d policy.Decision) int {
	if d.Verdict.Answer != nil {
		return d.Verdict.Answer.Status
	}
	return d.Verdict.Status
}
