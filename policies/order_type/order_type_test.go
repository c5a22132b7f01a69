package ordertype

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestOrderType_Refuses(t *testing.T) {
	const order, sub = "/wp-json/wc/v3/orders/7", "/wp-json/wc/v3/orders/13"
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
		status               int // 0 passes
	}{
		"pass/order":                       {"PUT", order, `{"note":"x"}`, []string{policytest.JSONType}, 0},
		"pass/read of a subscription":      {"GET", sub, "", nil, 0},
		"refuse/missing id":                {"PUT", "/wp-json/wc/v3/orders/2000", `{}`, []string{policytest.JSONType}, 400},
		"pass/missing id of a batch":       {"POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":2000},{"id":7}]}`, []string{policytest.JSONType}, 0},
		"pass/subscription's own route":    {"PUT", "/wp-json/wc/v3/subscriptions/13", `{}`, []string{policytest.JSONType}, 0},
		"pass/v1":                          {"PUT", "/wp-json/wc/v1/orders/13", `{}`, []string{policytest.JSONType}, 0},
		"pass/create":                      {"POST", "/wp-json/wc/v3/orders", `{"status":"pending"}`, []string{policytest.JSONType}, 0},
		"pass/delete without strict":       {"DELETE", sub, "", nil, 0},
		"pass/path of one, body of order":  {"PUT", sub, `{"id":7}`, []string{policytest.JSONType}, 0},
		"refuse/PUT":                       {"PUT", sub, `{}`, []string{policytest.JSONType}, 400},
		"refuse/PATCH":                     {"PATCH", sub, `{}`, []string{policytest.JSONType}, 400},
		"refuse/POST":                      {"POST", sub, `{}`, []string{policytest.JSONType}, 400},
		"refuse/no body":                   {"PUT", sub, "", nil, 400},
		"refuse/v2":                        {"PUT", "/wp-json/wc/v2/orders/13", `{}`, []string{policytest.JSONType}, 400},
		"refuse/analytics":                 {"PUT", "/wp-json/wc-analytics/orders/13", `{}`, []string{policytest.JSONType}, 400},
		"refuse/id in JSON":                {"PUT", order, `{"id":13}`, []string{policytest.JSONType}, 400},
		"refuse/id in JSON as text":        {"PUT", order, `{"id":"13"}`, []string{policytest.JSONType}, 400},
		"refuse/id in JSON, odd spelling":  {"PUT", order, `{"id":"13e0"}`, []string{policytest.JSONType}, 400},
		"refuse/escaped key":               {"PUT", order, `{"\u0069d":13}`, []string{policytest.JSONType}, 400},
		"refuse/id in the query":           {"PUT", order + "?id=13", `{}`, []string{policytest.JSONType}, 400},
		"refuse/id in the query, folded":   {"PUT", order + "?%20id=13", `{}`, []string{policytest.JSONType}, 400},
		"refuse/a query that may be lost":  {"PUT", sub + "?id=7", `{}`, []string{policytest.JSONType}, 400},
		"refuse/behind many variables":     {"PUT", sub + "?" + strings.Repeat("x&", 998) + "id=7", `{}`, []string{policytest.JSONType}, 400},
		"pass/two orders":                  {"PUT", order + "?id=8", `{}`, []string{policytest.JSONType}, 0},
		"refuse/id in a form":              {"POST", order, "id=13", []string{policytest.FormType}, 400},
		"refuse/id in a form of PUT":       {"PUT", order, "id=13", []string{policytest.FormType}, 400},
		"refuse/_method":                   {"GET", sub + "?_method=put", "", nil, 400},
		"refuse/override header":           {"POST", sub, "", []string{policytest.Override + "PATCH"}, 400},
		"refuse/rest_route":                {"POST", "/?rest_route=/wc/v3/orders/13", "", nil, 400},
		"refuse/upper case":                {"PUT", "/wp-json/WC/v3/Orders/13/", `{}`, []string{policytest.JSONType}, 400},
		"refuse/batch":                     {"POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":13}]}`, []string{policytest.JSONType}, 400},
		"refuse/batch as a form":           {"POST", "/wp-json/wc/v3/orders/batch", "update[0][id]=13", []string{policytest.FormType}, 400},
		"pass/batch of orders":             {"POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8},{"id":9},{"id":10}]}`, []string{policytest.JSONType}, 0},
		"pass/batch delete without strict": {"POST", "/wp-json/wc/v3/orders/batch", `{"delete":[13]}`, []string{policytest.JSONType}, 0},
		"refuse/tool":                      {"POST", "/wp-json/woocommerce/mcp", `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":13}}}`, []string{policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1"}, 400},
		"pass/tool on an order":            {"POST", "/wp-json/woocommerce/mcp", `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":7}}}`, []string{policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1"}, 0},
		"pass/other tool":                  {"POST", "/wp-json/woocommerce/mcp", `{"method":"tools/list"}`, []string{policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			r := policytest.Request(t, s, policytest.Shop(nil), test.method, test.target, test.body, append(test.headers, policytest.BasicAuth)...)
			d := policytest.Alone("order_type", p).Judge(t.Context(), r)
			if d.Verdict.Status != test.status {
				t.Fatalf("got %+v (%v), want %d", d, d.Err, test.status)
			}
			if odd := strings.Contains(name, "odd spelling"); test.status == 400 && !odd &&
				(d.Verdict.Code != "woocommerce_rest_shop_order_invalid_id" || d.Verdict.Message != "ID is invalid.") {
				t.Errorf("got %s %q", d.Verdict.Code, d.Verdict.Message)
			}
		})
	}
}

func TestOrderType_WhoMayNotRead(t *testing.T) {
	forbidden := asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`)
	writeOnly := asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`)
	editor := asktest.JSON(200, `{"id":4,"roles":["editor"],"capabilities":{"edit_others_posts":true}}`)
	customer := asktest.JSON(200, policytest.ClientBody)
	for name, test := range map[string]struct {
		answers    map[string]*ask.Answer
		credential string
		id         string
		status     int
		own        bool // the platform's own refusal
	}{
		"no credential, order":         {map[string]*ask.Answer{"caller": forbidden}, "", "7", 403, true},
		"no credential, subscription":  {map[string]*ask.Answer{"caller": forbidden}, "", "13", 403, true},
		"write-only key, order":        {map[string]*ask.Answer{"caller": writeOnly}, "ck:cs", "7", 0, false},
		"write-only key, subscription": {map[string]*ask.Answer{"caller": writeOnly}, "ck:cs", "13", 400, false},
		"editor, order":                {map[string]*ask.Answer{"caller": forbidden, "/wp/v2/users/me": editor}, "ck:cs", "7", 0, false},
		"editor, subscription":         {map[string]*ask.Answer{"caller": forbidden, "/wp/v2/users/me": editor}, "ck:cs", "13", 400, false},
		"customer, order":              {map[string]*ask.Answer{"caller": forbidden, "/wp/v2/users/me": customer}, "ck:cs", "7", 0, false},
		"customer, subscription":       {map[string]*ask.Answer{"caller": forbidden, "/wp/v2/users/me": customer}, "ck:cs", "13", 403, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, &OrderType{Credential: test.credential})
			r := policytest.Request(t, s, policytest.Shop(test.answers), "PUT", "/wp-json/wc/v3/orders/"+test.id, `{}`, policytest.JSONType, policytest.BasicAuth)
			v, err := p.Check(t.Context(), r)
			if err != nil || v.Status != test.status || (v.Answer != nil) != test.own {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
}

// TestOrderType_WordsDoNotTell: a caller who may not change orders gets the same refusal,
// whatever the record is.
func TestOrderType_WordsDoNotTell(t *testing.T) {
	forbidden := asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`)
	for target, want := range map[string]string{
		"PUT /wp-json/wc/v3/orders/13": "cannot_edit", "DELETE /wp-json/wc/v3/orders/13": "cannot_delete",
		"POST /wp-json/wc/v3/orders/13/refunds": "cannot_create", "POST /wp-json/wc/v3/orders/batch": "cannot_batch",
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Strict: true})
		method, target, _ := strings.Cut(target, " ")
		r := policytest.Request(t, s, policytest.Shop(map[string]*ask.Answer{"caller": forbidden}), method, target, `{"update":[{"id":13}]}`, policytest.JSONType, policytest.BasicAuth)
		d := policytest.Alone("order_type", p).Judge(t.Context(), r)
		if d.Verdict.Answer != nil && !strings.HasPrefix(string(d.Verdict.Answer.Body), `{"code":"woocommerce_rest_`+want+`","message":"`) {
			t.Errorf("%s: not the platform's order: %s", target, d.Verdict.Answer.Body)
		}
		if d.Verdict.Answer == nil || d.Verdict.Status != 403 || d.Verdict.Answer.Code() != "woocommerce_rest_"+want {
			t.Errorf("%s: got %+v", target, d)
		}
	}
}

// TestOrderType_ForgedBatchAsksOnce: a forged batch must not cause many questions.
func TestOrderType_ForgedBatchAsksOnce(t *testing.T) {
	var items []string
	for id := range 100 {
		items = append(items, fmt.Sprintf(`{"id":%d}`, id+5000))
	}
	for _, credential := range []string{"", "ck:cs"} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Credential: credential})
		backend := &asktest.Platform{Answer: func(_ ask.Question) (*ask.Answer, error) {
			return asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`), nil
		}}
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[`+strings.Join(items, ",")+`]}`, policytest.JSONType, policytest.BasicAuth)
		if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Status != 401 {
			t.Errorf("got %+v, %v", v, err)
		}
		if n := len(backend.Questions()); n > 2 {
			t.Errorf("credential %q: %d questions", credential, n)
		}
	}
}

func TestOrderType_UnverifiedCallers(t *testing.T) {
	oauth := "Authorization: OAuth oauth_consumer_key=\"x\""
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	if _, err := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, oauth)); !errors.Is(err, ask.ErrUndecided) {
		t.Errorf("without a credential: %v", err)
	}
	p = policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	for id, status := range map[string]int{"7": 0, "13": 403} {
		v, err := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/"+id, `{}`, policytest.JSONType, oauth))
		if err != nil || v.Status != status {
			t.Errorf("%s: got %+v, %v", id, v, err)
		}
	}
}

// TestOrderType_KeysInTheQueryForm: the shop's answer tells whether a key counts in the query
// form. Where it certainly does not, and for signatures, the guard does not decide.
func TestOrderType_KeysInTheQueryForm(t *testing.T) {
	const key, signature = "consumer_key=ck_1&consumer_secret=cs_1", "oauth_consumer_key=ck_1"
	for name, test := range map[string]struct {
		sent    string
		none    bool // the shop certainly takes no keys there
		backend *asktest.Platform
		status  int // 0: not decided
	}{
		"accepted":         {key, false, policytest.Shop(nil), 400},
		"not accepted":     {key, false, asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), 401},
		"an older release": {key, true, policytest.Shop(nil), 0},
		"a signature":      {signature, false, policytest.Shop(nil), 0},
	} {
		s := policytest.NewSite(t)
		s.NoKeysInQuery = test.none
		p := policytest.Provision(t, s, new(OrderType))
		v, err := p.Check(t.Context(), policytest.Request(t, s, test.backend, "PUT", "/?rest_route=/wc/v3/orders/13&"+test.sent, `{}`, policytest.JSONType))
		if v.Status != test.status || errors.Is(err, ask.ErrUndecided) != (test.status == 0) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

// TestOrderType_NoRouteTells: a plugin may take away both routes that tell what a record is.
// The gateway then does not decide about a record that the order route shows.
func TestOrderType_NoRouteTells(t *testing.T) {
	for shown, want := range map[*ask.Answer]bool{
		asktest.JSON(200, `{"id":13}`):                true,
		asktest.JSON(404, `{"code":"rest_no_route"}`): false,
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if q.Route == "/wc/v3/orders/13" {
				return shown, nil
			}
			return asktest.JSON(404, `{"code":"rest_no_route"}`), nil
		}}
		v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, policytest.BasicAuth))
		if v.Refused() || errors.Is(err, ask.ErrUndecided) != want {
			t.Errorf("%d: got %+v, %v", shown.Status, v, err)
		}
	}
}

func TestOrderType_Strict(t *testing.T) {
	for _, test := range []struct{ method, target, body string }{
		{"DELETE", "/wp-json/wc/v3/orders/13", ""},
		{"POST", "/wp-json/wc/v3/orders/13/refunds", `{"amount":"1"}`},
		{"POST", "/wp-json/wc/v3/orders/7/refunds", `{"order_id":13}`},
		{"POST", "/wp-json/wc/v3/orders/batch", `{"delete":[13]}`},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Strict: true})
		r := policytest.Request(t, s, policytest.Shop(nil), test.method, test.target, test.body, policytest.JSONType, policytest.BasicAuth)
		if d := policytest.Alone("order_type", p).Judge(t.Context(), r); d.Verdict.Status != 400 {
			t.Errorf("%+v: got %+v", test, d)
		}
	}
}

func TestOrderType_CouldNotDecide(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"down":           asktest.Failing(ask.ErrUndecided),
		"not JSON":       asktest.Answering(404, "<html>"),
		"200":            asktest.Answering(200, `{"id":0}`),
		"other code":     asktest.Answering(404, `{"code":"something_else"}`),
		"redirect":       asktest.Answering(302, ""),
		"forbidden page": asktest.Answering(403, "<html>firewall</html>"),
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, policytest.BasicAuth)
		if v, err := p.Check(t.Context(), r); err == nil {
			t.Errorf("%s: got %+v without an error", name, v)
		}
	}
}

func TestOrderType_BadConfiguration(t *testing.T) {
	for _, o := range []policy.Option{
		policytest.Line("order_type on"), policytest.Line("order_type", policytest.Line("credential")), policytest.Line("order_type", policytest.Line("strict yes")),
		policytest.Line("order_type", policytest.Line("sticrt")), policytest.Line("order_type", policytest.Line("strict"), policytest.Line("strict")),
	} {
		if err := new(OrderType).Configure(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if err := policytest.ProvisionError(policytest.NewSite(t), &OrderType{Credential: "nocolon"}); err == nil {
		t.Error("a credential without a colon: no error")
	}
}

func TestOrderType_JetpackIsNotAnonymous(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	r := policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13?_for=jetpack&token=a&signature=b", `{}`, policytest.JSONType)
	if v, err := p.Check(t.Context(), r); !errors.Is(err, ask.ErrUndecided) {
		t.Errorf("got %+v, %v", v, err)
	}
}
