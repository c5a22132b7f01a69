package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answersOrders lets p answer questions about orders as a shop without any: all records are
// subscriptions.
func (p *platform) answersOrders() {
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		orders, isOrders := strings.CutPrefix(r.URL.Path, "/cms-json/shop/v3/orders")
		if !isOrders || !isQuestion(r) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case orders == "":
			_, _ = io.WriteString(w, `[]`)
		case strings.HasSuffix(orders, "/notes/0"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":"shop_rest_order_invalid_id"}`)
		default:
			_, _ = io.WriteString(w, `{"id":1}`)
		}
		return true
	})
}

// TestRecord_BatchOfOneKind: a refused batch has one record for all parts that differ in
// their ids at most, and names them, whichever way it is refused.
func TestRecord_BatchOfOneKind(t *testing.T) {
	const oauth = "?oauth_consumer_key=ck_1&oauth_signature_method=HMAC-SHA1&oauth_timestamp=1&oauth_nonce=n&oauth_signature=x"
	items := func(format string) string {
		var list []string
		for id := 11; id < 18; id++ {
			list = append(list, fmt.Sprintf(format, id))
		}
		return strings.Join(list, ",")
	}
	for name, test := range map[string]struct {
		line, body, header string
		status, ids        int // ids at least
		error              string
	}{
		"subscriptions":         {"POST /cms-json/shop/v3/orders/batch", `{"update":[` + items(`{"id":%d}`) + `]}`, asAdmin, 400, 4, ""},
		"OAuth 1":               {"POST /cms-json/shop/v3/orders/batch" + oauth, `{"update":[` + items(`{"id":%d}`) + `]}`, "X-Nothing: 1", 503, 7, "order_type { credential <key:secret> }"},
		"creations":             {"POST /cms-json/batch/v1", `{"requests":[` + strings.TrimSuffix(strings.Repeat(`{"method":"POST","path":"/cms/v2/pages"},`, 7), ",") + `]}`, "X-Nothing: 1", 401, 0, ""},
		"a rule, for each part": {"POST /cms-json/batch/v1", `{"requests":[` + items(`{"method":"DELETE","path":"/cms/v2/pages/%d"}`) + `]}`, "X-Nothing: 1", 401, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.answersOrders()
			g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\tallow anyone /batch/v1 /shop/v3/orders/batch", 1)+p.proxied())
			r := g.do(test.line, test.body, asJSON, test.header)
			r.want(t, test.status, "")
			got := lines(t, g.log, r.header.Get("X-Request-Id"))
			if len(got) != 1 {
				t.Fatalf("%d records: %v", len(got), got)
			}
			ids, _ := got[0]["ids"].([]any)
			if len(ids) < test.ids || len(ids) > 7 || test.ids == 0 && len(ids) > 0 || test.ids == 7 && ids[0] != 11.0 {
				t.Errorf("the ids are %v", got[0]["ids"])
			}
			if text, _ := got[0]["error"].(string); !strings.Contains(text, test.error) || (text == "") != (test.error == "") {
				t.Errorf("the error is %q", text)
			}
			if why, _ := got[0]["why"].(string); !strings.Contains(why, test.error) {
				t.Errorf("why is %q", why)
			}
		})
	}
}

// TestRecord_BatchOfTwoKinds: parts that differ in their methods have a record each, with their
// own ids.
func TestRecord_BatchOfTwoKinds(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\tallow anyone /batch/v1", 1)+p.proxied())
	var parts []string
	for i, method := range []string{"DELETE", "DELETE", "PUT", "PUT"} {
		parts = append(parts, fmt.Sprintf(`{"method":"%s","path":"/cms/v2/pages/%d"}`, method, i+1))
	}
	r := g.do("POST /cms-json/batch/v1", `{"requests":[`+strings.Join(parts, ",")+`]}`, asJSON)
	r.want(t, 401, "")
	var got []string
	for _, rec := range lines(t, g.log, r.header.Get("X-Request-Id")) {
		got = append(got, fmt.Sprint(rec["method"], rec["ids"]))
	}
	if want := "[DELETE[1 2] PUT[3 4]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
