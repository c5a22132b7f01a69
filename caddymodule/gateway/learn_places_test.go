package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

// oldShop runs a shop of a release that turns a subscription into an order.
func oldShop(t *testing.T) (s *referencesite.Site, address string) {
	t.Helper()
	s, err := referencesite.New(referencesite.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, strings.TrimPrefix(server.URL, "http://")
}

// makeSubscription makes a subscription past the gateway.
func makeSubscription(t *testing.T, s http.Handler, key string) int {
	t.Helper()
	return makeRecord(t, s, "/wp-json/wc/v3/subscriptions", `{"status":"active"}`, key)
}

// TestLearning_FileInPlaceOfTheShop: a file that is served where the query names the list of
// orders proves nothing.
func TestLearning_FileInPlaceOfTheShop(t *testing.T) {
	s, shop := oldShop(t)
	dir, sub := t.TempDir(), s.Info().Subscriptions[0]
	if err := os.WriteFile(filepath.Join(dir, "export.json"), fmt.Appendf(nil, `[{"id":%d}]`, sub), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, "\trestwarden wordpress\n\troot * "+dir+"\n\t@file {\n\t\tmethod GET\n\t\tfile\n\t}\n\thandle @file {\n\t\tfile_server\n\t}\n\thandle {\n\t\treverse_proxy "+shop+"\n\t}")
	admin := (&reference{g, s, s.Info()}).as("admin")
	if got := g.do("GET /export.json?rest_route=/wc/v3/orders", "", admin); got.status != 200 || got.body != fmt.Sprintf(`[{"id":%d}]`, sub) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := g.do(fmt.Sprintf("PUT /export.json?rest_route=/wc/v3/orders/%d", sub), `{"status":"completed"}`, admin, asJSON); got.status < 400 {
		t.Errorf("the update of the subscription: %d %s", got.status, got.body)
	}
}

// TestLearning_ShopBesideAShop: where the path alone leads to another shop than the path with
// the prefix behind it, the orders of the one prove nothing about the other.
func TestLearning_ShopBesideAShop(t *testing.T) {
	a, first := oldShop(t)
	b, second := oldShop(t)
	g := startGateway(t, "\trestwarden wordpress\n\thandle_path /blog/* {\n\t\treverse_proxy "+second+"\n\t}\n\thandle {\n\t\treverse_proxy "+first+"\n\t}")
	order := makeOrders(t, a, basicAuth(a.Info().Keys.ReadWriteKey), 1)[0]
	sub := makeSubscription(t, b, basicAuth(b.Info().Keys.ReadWriteKey))
	if order != sub {
		t.Fatalf("order %d, subscription %d", order, sub)
	}
	list := "GET /blog?rest_route=/wc/v3/orders&include=" + strconv.Itoa(order)
	if got := g.do(list, "", (&reference{g, a, a.Info()}).as("admin")); got.status != 200 || !strings.Contains(got.body, fmt.Sprintf(`"id":%d,`, order)) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := g.do(fmt.Sprintf("PUT /blog%s/%d", wooOrders, sub), `{"status":"completed"}`, (&reference{g, b, b.Info()}).as("admin"), asJSON); got.status != 400 {
		t.Errorf("the update of the subscription: %d %s", got.status, got.body)
	}
}

// TestLearning_ShopsBehindAProxy: where a trusted proxy names the shop, the orders of one shop
// prove nothing about another.
func TestLearning_ShopsBehindAProxy(t *testing.T) {
	a, _ := oldShop(t)
	b, _ := oldShop(t)
	both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Host") == "b.example" {
			b.ServeHTTP(w, r)
			return
		}
		a.ServeHTTP(w, r)
	}))
	defer both.Close()
	g := startFile(t, &caddyrun.File{
		Global: "\tservers {\n\t\ttrusted_proxies static 127.0.0.1\n\t}\n",
		Sites:  []caddyrun.Site{{Body: "\trestwarden wordpress\n\treverse_proxy " + strings.TrimPrefix(both.URL, "http://")}},
	})
	order := makeOrders(t, a, basicAuth(a.Info().Keys.ReadWriteKey), 1)[0]
	sub := makeSubscription(t, b, basicAuth(b.Info().Keys.ReadWriteKey))
	if order != sub {
		t.Fatalf("order %d, subscription %d", order, sub)
	}
	list := fmt.Sprintf("GET %s?include=%d", wooOrders, order)
	if got := g.do(list, "", (&reference{g, a, a.Info()}).as("admin"), "X-Forwarded-Host: a.example"); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := g.do(fmt.Sprintf("PUT %s/%d", wooOrders, sub), `{"status":"completed"}`, (&reference{g, b, b.Info()}).as("admin"), asJSON, "X-Forwarded-Host: b.example"); got.status != 400 {
		t.Errorf("the update of the subscription: %d %s", got.status, got.body)
	}
}
