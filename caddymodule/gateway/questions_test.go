package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/ask"
)

// shift is a part of a shop's day, with what it costs in questions.
type shift struct {
	*reference
	calls int
}

// startShift runs a shop of a release that checks no types. With unread, every answer looks as
// if it came from a cache, so that the gateway learns nothing from it.
func startShift(t *testing.T, directive string, unread bool) *shift {
	t.Helper()
	s, err := referencesite.New(referencesite.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if unread {
			w.Header().Set("Age", "0")
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	body := "\tmetrics /metrics\n" + directive + "\n\treverse_proxy " + strings.TrimPrefix(server.URL, "http://")
	return &shift{reference: &reference{startGateway(t, body), s, s.Info()}}
}

// send sends a call, which must succeed, and counts it.
func (s *shift) send(line, body string, headers ...string) reply {
	s.t.Helper()
	s.calls++
	if body != "" {
		headers = append(headers, asJSON)
	}
	got := s.do(line, body, headers...)
	if got.status >= 400 {
		s.t.Fatalf("%s: %d %s", line, got.status, got.body)
	}
	return got
}

var lookups = regexp.MustCompile(`(?m)^caddy_restwarden_lookups_total\{kind="(\w+)",result="(\w+)"\} (\d+)$`)

// asked returns how many questions of each kind the gateway has sent.
func (s *shift) asked() map[ask.Kind]int {
	s.t.Helper()
	n := map[ask.Kind]int{}
	for _, m := range lookups.FindAllStringSubmatch(s.do("GET /metrics", "").body, -1) {
		if m[2] != "cached" {
			times, _ := strconv.Atoi(m[3])
			n[ask.Kind(m[1])] += times
		}
	}
	return n
}

const wooOrders = "/wp-json/wc/v3/orders"

// idsIn returns the ids of a list of records.
func (s *shift) idsIn(r reply) (ids []int) {
	s.t.Helper()
	var list []struct{ ID int }
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return ids
}

// sync is an ERP with a shop key: it lists all orders, 100 a page, and updates each.
func (s *shift) sync() {
	key := basicAuth(s.info.Keys.ReadWriteKey)
	makeOrders(s.t, s.site, key, 295) // beside the five of the seed
	for page := 1; ; page++ {
		ids := s.idsIn(s.send(fmt.Sprintf("GET %s?per_page=100&page=%d&orderby=id&order=asc", wooOrders, page), "", key))
		for _, id := range ids {
			s.send(fmt.Sprintf("PUT %s/%d", wooOrders, id), `{"status":"completed"}`, key)
		}
		if len(ids) < 100 {
			return
		}
	}
}

// edit is an author's hour in the editor: it opens posts, keeps drafts, and saves.
func (s *shift) edit() {
	cookie, nonce := s.site.Nonce("admin")
	session := []string{"Cookie: " + cookie.Name + "=" + cookie.Value, "X-WP-Nonce: " + nonce}
	s.send("GET /wp-json/wp/v2/users/me?context=edit", "", session...)
	s.send("GET /wp-json/wp/v2/taxonomies?context=edit", "", session...)
	posts := s.idsIn(s.send("GET /wp-json/wp/v2/posts?context=edit&per_page=100", "", session...))
	for _, id := range posts {
		post := fmt.Sprintf("/wp-json/wp/v2/posts/%d", id)
		s.send("GET "+post+"?context=edit", "", session...)
		for draft := range 15 {
			s.send("POST "+post+"/autosaves", fmt.Sprintf(`{"content":"Draft %d"}`, draft), session...)
		}
		s.send("POST "+post, `{"content":"Done"}`, session...)
		s.send("GET "+post+"/autosaves?context=edit", "", session...)
	}
}

// sell is a day of the checkout: shoppers, notifications of payments, and a shop manager who
// looks at the list of orders now and then, works on some, and takes one by phone.
func (s *shift) sell() {
	manager := s.as("manager")
	for shopper := range 40 {
		cart := s.send("GET /wp-json/wc/store/v1/cart", "")
		session := "Cart-Token: " + cart.header.Get("Cart-Token")
		s.send("GET /wp-json/wc/store/v1/products", "", session)
		s.send("POST /wp-json/wc/store/v1/cart/add-item", fmt.Sprintf(`{"id":%d,"quantity":1}`, s.info.Products[1]), session)
		s.send("GET /wp-json/wc/store/v1/cart", "", session)
		s.send("POST /wp-json/wc/store/v1/checkout", `{"expected_total":"1000","billing_address":{"email":"a@example.test","country":"US"}}`, session)
		s.send("POST /wp-json"+s.info.Routes.Notify, `{"event":"paid"}`)
		if shopper%8 != 7 {
			continue
		}
		ids := s.idsIn(s.send("GET "+wooOrders+"?per_page=20", "", manager))
		for _, id := range ids[:8] {
			s.send(fmt.Sprintf("GET %s/%d", wooOrders, id), "", manager)
			s.send(fmt.Sprintf("PUT %s/%d", wooOrders, id), `{"status":"completed"}`, manager)
		}
		var taken struct{ ID int }
		if err := json.Unmarshal([]byte(s.send("POST "+wooOrders, `{"status":"pending"}`, manager).body), &taken); err != nil {
			s.t.Fatal(err)
		}
		s.send(fmt.Sprintf("PUT %s/%d", wooOrders, taken.ID), `{"status":"processing"}`, manager)
	}
}

// TestQuestions counts the questions of three workloads, before and after the gateway learns
// from answers; docs/policies/order_type.md has the table that it prints with -v. Answers
// about callers count for five minutes here, so that the time a run takes does not matter.
func TestQuestions(t *testing.T) {
	const settings = "\t\tidentity {\n\t\t\tttl 5m\n\t\t}\n"
	directives := map[string]string{
		"alone":      "\trestwarden wordpress {\n" + settings + "\t}",
		"login_only": "\trestwarden wordpress {\n\t\tlogin_only\n\t\tallow anyone /wc/store/v1/**\n\t\tallow anyone POST NOTIFY\n" + settings + "\t}",
	}
	type counts struct{ caller, record, cart int }
	for _, test := range []struct {
		name, directive string
		run             func(*shift)
		calls           int
		before, after   counts
	}{
		{"sync", "alone", (*shift).sync, 304, counts{0, 300, 0}, counts{0, 0, 0}},
		{"sync", "login_only", (*shift).sync, 304, counts{1, 300, 0}, counts{1, 0, 0}},
		{"editor", "alone", (*shift).edit, 93, counts{0, 0, 0}, counts{0, 0, 0}},
		{"editor", "login_only", (*shift).edit, 93, counts{1, 0, 0}, counts{1, 0, 0}},
		{"checkout", "alone", (*shift).sell, 335, counts{0, 45, 80}, counts{0, 0, 80}},
		{"checkout", "login_only", (*shift).sell, 335, counts{1, 45, 80}, counts{1, 0, 80}},
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(test.name+"/"+test.directive+"/"+when, func(t *testing.T) {
				s := startShift(t, "", when == "before")
				s.load("\tmetrics /metrics\n" + strings.ReplaceAll(directives[test.directive], "NOTIFY", s.info.Routes.Notify) + s.file.Sites[0].Body[strings.LastIndex(s.file.Sites[0].Body, "\n"):])
				test.run(s)
				n := s.asked()
				per := func(kind ask.Kind) string { return fmt.Sprintf("%.0f", float64(n[kind])*1000/float64(s.calls)) }
				t.Logf("| %s, %s, %s | %d | %s | %s | %s |", test.name, test.directive, when, s.calls, per(ask.KindCaller), per(ask.KindRecord), per(ask.KindCart))
				want := test.after
				if when == "before" {
					want = test.before
				}
				if got := (counts{n[ask.KindCaller], n[ask.KindRecord], n[ask.KindCart]}); got != want || s.calls != test.calls {
					t.Errorf("%d calls, %+v, want %d calls, %+v", s.calls, got, test.calls, want)
				}
			})
		}
	}
}
