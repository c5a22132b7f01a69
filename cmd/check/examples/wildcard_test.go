package examples

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// The hosts of the example, of which the second has no block of its own.
const (
	ownShop    = "https://shop-1.shops.localhost"
	sharedShop = "https://shop-2.shops.localhost"
	stranger   = "https://shop-9.shops.localhost"
)

// TestWildcard: two gateways behind the balancer, with a real Redis. They guard every shop, give a certificate to known
// hosts alone, count together, for each visitor apart, and go on when one of them dies.
func TestWildcard(t *testing.T) {
	t.Parallel()
	w := startWildcard(t)
	c := Client(Visitor, w.front)
	for _, shop := range []string{ownShop, sharedShop} {
		if err := Guarded(t.Context(), c, shop); err != nil {
			t.Error(err)
		}
	}
	redirected(t, c, "http://shop-2.shops.localhost/")
	if req, err := client.Request(t.Context(), stranger, "GET /", ""); err != nil {
		t.Fatal(err)
	} else if got, err := client.Do(c, req); err == nil {
		t.Errorf("a host that is no shop's has a certificate: %d", got.Status)
	}
	if got := at(t, c, ownShop).call("POST", "/wp-json/acme/v1/callback").Status; got == http.StatusUnauthorized {
		t.Error("the shop's own line opens nothing")
	}

	first, second := at(t, Client(Visitor, w.places[0]), sharedShop), at(t, Client(Visitor, w.places[1]), sharedShop)
	for left := 19; left > 9; left -= 2 {
		first.left(left)
		second.left(left - 1)
	}
	balanced := at(t, c, sharedShop)
	for left := 9; left > 4; left-- {
		balanced.left(left)
	}
	w.gateways[0].Kill()
	for left := 4; left >= 0; left-- {
		balanced.left(left)
	}
	if got := balanced.post().Status; got != http.StatusTooManyRequests {
		t.Errorf("the 21st call: %d", got)
	}
	at(t, Client("127.0.0.8", w.front), sharedShop).left(19)
	at(t, c, ownShop).left(19)
}

// wildcard is the example as it runs.
type wildcard struct {
	places   []Place // of the gateways
	gateways []*machine.Process
	front    Place // of the balancer
}

func startWildcard(t *testing.T) *wildcard {
	t.Helper()
	e := read(t, "wildcard")
	for _, service := range []string{"gateway-1", "gateway-2"} {
		if err := e.Odd(t.Context(), caddyrun.Binary(t), service); err != nil {
			t.Error(err)
		}
	}
	redis, shops, certificates := redisrun.Start(t, "--requirepass", Secret), platform(t), t.TempDir()
	w := new(wildcard)
	for _, service := range []string{"gateway-1", "gateway-2"} {
		ask := machine.FreeAddress(t)
		p := place(t, map[string]string{
			"wordpress:80": shops, "redis:6379": redis.Addr, "/data/caddy": certificates, "10.0.0.0/8": "127.0.0.0/8",
			"127.0.0.1:5555": ask, "http://127.0.0.1:5555/": "http://" + ask + "/",
		})
		p.Caddyfile = map[string]string{"prefix shops\n": "prefix shops\n\t\t\ttimeout 10s\n"} // of a busy machine
		w.places = append(w.places, p)
		w.gateways = append(w.gateways, start(t, e, service, "shop-2.shops.localhost", p))
	}
	w.front = place(t, nil)
	file, err := e.Mounted("balancer", "/usr/local/etc/haproxy/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	config, err := MoveText(readFile(t, file), map[string]string{
		"bind :80\n": "bind " + w.front.HTTP + "\n", "bind :443\n": "bind " + w.front.HTTPS + "\n",
		" gateway-1:80\n": " " + w.places[0].HTTP + "\n", " gateway-1:443 ": " " + w.places[0].HTTPS + " ",
		" gateway-2:80\n": " " + w.places[1].HTTP + "\n", " gateway-2:443 ": " " + w.places[1].HTTPS + " ",
	})
	if err != nil {
		t.Fatal(err)
	}
	startBalancer(t, config, w.front.HTTPS)
	return w
}

// startBalancer runs a real HAProxy until the test ends.
func startBalancer(t *testing.T, config, address string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := machine.Start(dir, "haproxy", "-db", "-f", file)
	if err != nil {
		t.Fatalf("%v; `go run ./cmd/check` installs it, or: apt-get install haproxy", err)
	}
	t.Cleanup(process.Stop)
	if err := process.Ready(t.Context(), machine.Connects("tcp", address)); err != nil {
		t.Fatal(err)
	}
}

// shopper calls a shop.
type shopper struct {
	t      *testing.T
	client *http.Client
	shop   string
}

func at(t *testing.T, c *http.Client, shop string) shopper {
	t.Helper()
	return shopper{t, c, shop}
}

func (s shopper) post() client.Reply {
	s.t.Helper()
	return s.call("POST", "/wp-json/wc/store/v1/checkout")
}

func (s shopper) call(method, target string) client.Reply {
	s.t.Helper()
	req, err := client.Request(s.t.Context(), s.shop, method+" "+target, "{}", client.Typed("{}"))
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := client.Do(s.client, req)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// left posts, and holds how many calls are left then.
func (s shopper) left(want int) {
	s.t.Helper()
	if got := s.post(); got.Header.Get("RateLimit-Remaining") != strconv.Itoa(want) {
		s.t.Errorf("%s: %d, %q calls are left, want %d\n%s", s.shop, got.Status, got.Header.Get("RateLimit-Remaining"), want, strings.TrimSpace(got.Body))
	}
}
