package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// signedConsent returns a signed call that nobody has sent before.
func signedConsent() (body string, headers []string) {
	body = `{"consent":true,"id":"` + rand.Text() + `"}`
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	digest := sha256.Sum256([]byte(body))
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(stamp + "\nPOST\n/consent/v1/consent\n" + hex.EncodeToString(digest[:])))
	return body, []string{"X-Timestamp: " + stamp, "X-Signature: " + hex.EncodeToString(mac.Sum(nil)), asJSON}
}

const (
	postConsent   = "POST /cms-json/consent/v1/consent"
	getTaxonomies = "GET /cms-json/cms/v2/taxonomies"
	getPosts      = "GET /cms-json/cms/v2/posts"
)

func TestGateways_SignatureCountsOnce(t *testing.T) {
	p := startPair(t)
	for i := range 6 {
		first, second := p.a, p.b
		if i%2 == 1 {
			first, second = p.b, p.a
		}
		body, headers := signedConsent()
		p.want("first use", first, 200, postConsent, body, headers...)
		p.want("on the other", second, 401, postConsent, body, headers...)
		p.want("again", first, 401, postConsent, body, headers...)
	}
}

// TestGateways_IdentityIsShared: a gateway uses the answers of the other one.
func TestGateways_IdentityIsShared(t *testing.T) {
	p := startPair(t)
	const host = "Host: shop.example"
	admin := basicAuth("admin:" + p.info.Users["admin"].ApplicationPassword)
	for _, g := range []*process{p.a, p.b} { // both connect, and get the secret
		p.want("customer", g, 200, getPosts, "", basicAuth("customer:"+p.info.Users["customer"].ApplicationPassword), host)
	}
	time.Sleep(300 * time.Millisecond)
	p.want("asked", p.a, 200, getPosts, "", admin, host)
	time.Sleep(100 * time.Millisecond)
	asked := p.questions.Load()
	p.want("known", p.b, 200, getPosts, "", admin, host)
	if n := p.questions.Load(); n != asked {
		t.Errorf("%d more questions", n-asked)
	}
}

// TestGateways_ProofsAreShared: what one gateway has learned from a list, the other need not
// ask.
func TestGateways_ProofsAreShared(t *testing.T) {
	p := startPair(t)
	const orders = "/cms-json/shop/v3/orders"
	key := basicAuth(p.info.Keys.ReadWriteKey)
	update := func(what string, g *process, id int, asks int64) {
		t.Helper()
		before := p.records.Load()
		p.want(what, g, 200, fmt.Sprintf("PUT %s/%d", orders, id), `{"status":"completed"}`, asJSON, key, "Host: shop.example")
		if n := p.records.Load() - before; n != asks {
			t.Errorf("%s: %d questions, want %d", what, n, asks)
		}
	}
	first, second, third := p.info.Orders[0], p.info.Orders[1], p.info.Orders[2]
	p.want("list", p.a, 200, fmt.Sprintf("GET %s?include=%d,%d", orders, first, second), "", key, "Host: shop.example")
	update("here, at once", p.a, first, 0)
	time.Sleep(300 * time.Millisecond) // the proofs are in Redis
	update("on the other", p.b, first, 0)
	update("on the other, another", p.b, second, 0)
	update("not in the list", p.b, third, 1)
	p.want("delete", p.b, 200, fmt.Sprintf("DELETE %s/%d", orders, second), "", key, "Host: shop.example")
	time.Sleep(100 * time.Millisecond)
	update("after a delete", p.a, second, 1)
	p.redis.Kill()
	p.want("list without Redis", p.a, 200, fmt.Sprintf("GET %s?include=%d", orders, first), "", key, "Host: shop.example")
	update("without Redis", p.a, first, 0)
}

func TestGateways_LimitIsShared(t *testing.T) {
	p := startPair(t)
	var passed atomic.Int32
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			status, header, err := []*process{p.a, p.b}[i%2].send(getTaxonomies, "")
			switch {
			case err != nil:
				t.Error(err)
			case status == 200:
				passed.Add(1)
			case status != 429 || header.Get("Retry-After") == "":
				t.Errorf("%d %v", status, header)
			}
		})
	}
	wg.Wait()
	if n := passed.Load(); n != 10 {
		t.Errorf("%d passed, want 10", n)
	}
}

// TestGateways_Revocation: answers count for a minute here, so that a change within a
// second must have come through Redis.
func TestGateways_Revocation(t *testing.T) {
	p := startPair(t)
	for login, revoke := range map[string]func(as string) string{
		"manager": func(string) string { return "DELETE /cms-json/cms/v2/users/me/application-passwords" },
		"admin": func(as string) string { // E4
			const all = "/cms-json/cms/v2/users/me/application-passwords"
			var passwords []struct{ UUID string }
			if err := json.Unmarshal([]byte(p.a.body(all, as)), &passwords); err != nil || len(passwords) == 0 {
				t.Fatal(passwords, err)
			}
			return fmt.Sprintf("DELETE /cms-json/cms/v2/users/%d/application-passwords/%s", 1, passwords[0].UUID)
		},
	} {
		as := basicAuth(login + ":" + p.info.Users[login].ApplicationPassword)
		for range 2 {
			p.want(login, p.a, 200, getPosts, "", as)
			p.want(login, p.b, 200, getPosts, "", as)
			time.Sleep(300 * time.Millisecond) // both listen
		}
		p.want(login+" revokes", p.a, 200, revoke(as), "", as)
		p.want(login+" here", p.a, 401, getPosts, "", as)
		start := time.Now()
		for {
			status, _, err := p.b.send(getPosts, "", as)
			if err == nil && status == 401 {
				break
			}
			if time.Since(start) > time.Second {
				t.Fatalf("%s: a second later the other still says %d, %v", login, status, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestGateways_StartWithoutRedis: two gateways start without Redis, and share once Redis
// is there.
func TestGateways_StartWithoutRedis(t *testing.T) {
	p := startPair(t)
	p.redis.Kill()
	p.a.stop()
	p.b.stop()
	p.a.Start()
	p.b.Start()
	admin := basicAuth("admin:" + p.info.Users["admin"].ApplicationPassword)
	for _, g := range []*process{p.a, p.b} {
		p.want("admin", g, 200, getPosts, "", admin)
		p.want("nobody", g, 401, getPosts, "")
		body, headers := signedConsent()
		p.want("signed", g, 503, postConsent, body, headers...)
	}
	p.redis.Start()
	for _, g := range []*process{p.a, p.b} {
		eventually(t, "signatures are known", func() bool {
			body, headers := signedConsent()
			status, _, err := g.send(postConsent, body, headers...)
			return err == nil && status == 200
		})
	}
	body, headers := signedConsent()
	p.want("first use", p.a, 200, postConsent, body, headers...)
	p.want("on the other", p.b, 401, postConsent, body, headers...)
}

// TestGateways_RollingReload: one gateway after the other gets another configuration
// under steady traffic, and no client notices.
func TestGateways_RollingReload(t *testing.T) {
	p := startPair(t)
	admin := basicAuth("admin:" + p.info.Users["admin"].ApplicationPassword)
	stop := make(chan struct{})
	var sent, retried atomic.Int64
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				first, second := p.a, p.b
				if (i+worker)%2 == 1 {
					first, second = second, first
				}
				body, headers := signedConsent()
				for _, again := range []bool{
					p.balanced("admin", first, second, 200, getPosts, "", admin),
					p.balanced("nobody", second, first, 401, getPosts, ""),
					p.balanced("signed", first, second, 200, postConsent, body, headers...),
					p.balanced("replayed", second, first, 401, postConsent, body, headers...),
				} {
					sent.Add(1)
					if again {
						retried.Add(1)
					}
				}
			}
		})
	}
	for i := range 6 {
		for _, g := range []*process{p.a, p.b} {
			g.Write(sharing(p.store()), p.block+fmt.Sprintf("\n\theader X-Config %d", i))
			if err := g.Reload(); err != nil {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d requests, 12 reloads, %d sent again", sent.Load(), retried.Load())
	if sent.Load() < 200 || retried.Load() > sent.Load()/20 {
		t.Errorf("of %d requests %d were sent again", sent.Load(), retried.Load())
	}
}

// TestGateway_SecondDirective: the question of one directive passes the other one. To judge
// it, the other one would ask the same, and wait for itself until identity { timeout }. The
// rules of both hold for clients.
func TestGateway_SecondDirective(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\troute {\n\t\trestwarden cms {\n\t\t\tallow role editor /cms/v2/users\n\t\t\taccess {\n\t\t\t\ton_error pass\n\t\t\t}\n\t\t}\n"+
		"\t\trestwarden cms {\n\t\t\tlogin_only\n\t\t}\n\t"+p.proxied()+"\n\t}")
	g.do("GET /cms-json/cms/v2/users", "", asAdmin).want(t, 403, "rest_forbidden")
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "/cms/v2/posts")
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "rest_not_logged_in")
}

func TestCluster_Site(t *testing.T) {
	nodes := redisrun.Cluster(t)
	// A busy machine may take longer than the default.
	g := startSharing(t, newPlatform(t), "redis "+strings.Join(redisrun.Addresses(nodes), " ")+" {\n\t\t\ttimeout 2s\n\t\t}")
	g.decides("a Cluster", true)
}
