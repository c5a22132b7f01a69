package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestMain(m *testing.M) { caddyrun.Main(m) }

// patience is how long anything may take.
const patience = 20 * time.Second

// sites are three of them: one that enforces, one that observes, and one whose configuration
// has a finding.
const sites = `
	@shop host shop.example.com
	handle @shop {
		restwarden wordpress {
			login_only
			allow anyone /wc/store/v1/**
			rate_limit 1/1h GET /wc/store/v1/products
			identity {
				timeout 2s
			}
			abilities {
				allow core/get-site-info
				audit hashes
			}
		}
		reverse_proxy %[1]s
	}
	@observed host observed.example.com
	handle @observed {
		restwarden wordpress {
			mode observe
			login_only
		}
		reverse_proxy %[1]s
	}
	@odd host odd.example.com
	handle @odd {
		restwarden wordpress {
			deny /acme/v1/**
			allow anyone /acme/v1/cart
		}
		reverse_proxy %[1]s
	}
	metrics /metrics
`

// fleet is two gateways that share a Redis, in front of one platform. The second has metrics
// per host.
type fleet struct {
	t        *testing.T
	gateways []*caddyrun.Process
	redis    *redisrun.Server
	info     site.Info
	grown    atomic.Bool // the REST root has a route more
	silent   atomic.Bool // questions have no answer for a while
	broken   atomic.Bool // questions are answered by a server that fails
	users    atomic.Int64
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	platform, err := site.New(site.Options{Platform: "wordpress"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, redis: redisrun.Start(t), info: platform.Info()}
	backend := httptest.NewServer(f.before(platform))
	t.Cleanup(backend.Close)
	for _, metrics := range []string{"metrics", "metrics {\n\t\tper_host\n\t}"} {
		global := "\t" + metrics + "\n\trestwarden {\n\t\tstore redis " + f.redis.Addr + "\n\t}\n"
		f.gateways = append(f.gateways, caddyrun.StartProcess(t, global, fmt.Sprintf(sites, backend.Listener.Addr())))
	}
	return f
}

// before stands in front of the platform and makes it fail.
func (f *fleet) before(platform http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question := r.Header.Get("Accept") == "application/json" && r.Header.Get("Accept-Encoding") == "identity"
		switch {
		case question && f.silent.Load():
			select {
			case <-time.After(3 * time.Second):
			case <-r.Context().Done():
			}
		case question && f.broken.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/wp-json/" && f.grown.Load():
			answer := httptest.NewRecorder()
			platform.ServeHTTP(answer, r)
			_, _ = io.WriteString(w, strings.Replace(answer.Body.String(), `"routes":{`, `"routes":{"/acme/v1/new":{"namespace":"acme/v1","methods":["GET"],"endpoints":[{"methods":["GET"],"args":{}}]},`, 1))
		case strings.HasPrefix(r.URL.Path, "/api/"): // a rewrite rule of a plugin
			r.URL.Path = "/wp-json/" + strings.TrimPrefix(r.URL.Path, "/api/")
			r.RequestURI = r.URL.RequestURI()
			platform.ServeHTTP(w, r)
		default:
			platform.ServeHTTP(w, r)
		}
	})
}

// at sends "METHOD target" to a site on one of the gateways, and wants this status.
func (f *fleet) at(gateway *caddyrun.Process, host, line, body string, want int, edits ...client.Edit) {
	f.t.Helper()
	if got, err := f.answered(func() (client.Reply, error) { return f.answer(gateway, host, line, body, edits...) }); err != nil || got.Status != want {
		f.t.Fatalf("%s %s: %d %.300s %v, want %d", host, line, got.Status, got.Body, err, want)
	}
}

// answered asks again, once gateways were reloaded, where there is no answer: Caddy ends its old
// servers in the background, and with them a connection that they have just taken.
func (f *fleet) answered(ask func() (client.Reply, error)) (got client.Reply, err error) {
	f.t.Helper()
	wait.For(f.t, patience, "an answer", func() bool {
		got, err = ask()
		return err == nil || !f.grown.Load()
	})
	return got, err
}

// answer sends "METHOD target" to a site on one of the gateways.
func (f *fleet) answer(gateway *caddyrun.Process, host, line, body string, edits ...client.Edit) (client.Reply, error) {
	f.t.Helper()
	edits = append([]client.Edit{client.Typed(body), client.Lines("Host: " + host)}, edits...)
	req, err := client.Request(f.t.Context(), "http://"+gateway.Address, line, body, edits...)
	if err != nil {
		f.t.Fatal(err)
	}
	return client.Do(httpClient, req)
}

// login is that of a user of the platform; stranger is a new one each time, who is not known.
func (f *fleet) login(name string) client.Edit {
	return client.Login(name + ":" + f.info.Users[name].ApplicationPassword)
}

func (f *fleet) stranger() client.Edit {
	return client.Login(fmt.Sprintf("nobody%d:nothing", f.users.Add(1)))
}

const (
	shop     = "shop.example.com"
	observed = "observed.example.com"
)

// round sends calls of every kind to each gateway.
func (f *fleet) round() {
	f.t.Helper()
	for _, g := range f.gateways {
		f.at(g, shop, "GET /wp-json/wp/v2/users", "", 401)
		f.at(g, shop, "GET /wp-json/wp/v2/posts", "", 200, f.login("admin"))
		f.at(g, shop, "GET /wp-json/wp/v2/posts", "", 401, f.stranger())
		f.at(g, shop, "GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users", "", 400)
		f.at(g, shop, "GET /wp-json/wc/store/v1/cart", "", 200)
		f.at(g, shop, fmt.Sprintf("PUT /wp-json/wc/v3/orders/%d", f.info.Subscriptions[0]), `{"status":"processing"}`, 400, f.login("admin"))
		f.at(g, shop, "GET /cms-json/cms/v2/posts", "", 503)
		f.at(g, shop, "GET /wp-json/wp-abilities/v1/abilities/core/get-site-info/run", "", 200, f.login("admin"))
		f.at(g, shop, "GET /wp-json/wp-abilities/v1/abilities/woocommerce/orders-query/run", "", 403, f.login("admin"))
		f.at(g, shop, "GET /api/wp/v2/posts", "", 200)
		f.at(g, observed, "GET /wp-json/wp/v2/posts", "", 200)
		f.at(g, "odd.example.com", "GET /wp-json/acme/v1/cart", "", 403)
	}
}

// flood goes over the limit of the shop.
func (f *fleet) flood() {
	f.t.Helper()
	f.at(f.gateways[0], shop, "GET /wp-json/wc/store/v1/products", "", 200)
	for _, g := range f.gateways {
		f.at(g, shop, "GET /wp-json/wc/store/v1/products", "", 429)
	}
}

// flooded asks the limit again, which needs the store.
func (f *fleet) flooded() {
	f.t.Helper()
	for _, g := range f.gateways {
		f.at(g, shop, "GET /wp-json/wc/store/v1/products", "", 200)
		f.at(g, shop, "GET /wp-json/wc/store/v1/products", "", 429)
	}
}

// during asks each gateway something that it has to ask the platform about, which has a fault.
func (f *fleet) during(fault *atomic.Bool) {
	f.t.Helper()
	fault.Store(true)
	defer fault.Store(false)
	for _, g := range f.gateways {
		f.at(g, shop, "GET /wp-json/wp/v2/posts", "", 503, f.stranger())
	}
}

// grow adds a route to the REST root and reloads the gateways, which then read it again.
func (f *fleet) grow() {
	f.t.Helper()
	f.grown.Store(true)
	for _, g := range f.gateways {
		if err := g.Reload(); err != nil {
			f.t.Fatal(err)
		}
	}
	f.read()
}

// rootPatience is how long the reading of a REST root may take: one that has failed, as on a busy
// machine, is repeated after a minute or so.
const rootPatience = 3 * time.Minute

// read calls the shop on each gateway, and waits until its REST root has been read.
func (f *fleet) read() {
	f.t.Helper()
	for _, g := range f.gateways {
		wait.For(f.t, rootPatience, "the REST root is read", func() bool {
			if _, err := f.answer(g, shop, "GET /wp-json/wp/v2/users", ""); err != nil {
				return false // a reload may end a connection that it has just taken
			}
			text, err := get(f.t.Context(), g.Admin()+adminapi.Path+adminapi.SitesPath)
			var answer struct {
				Sites []struct {
					Site      string
					Routes    *struct{ Count int }
					Questions map[string]struct{ Asked int }
				}
			}
			if err != nil || json.Unmarshal([]byte(text), &answer) != nil {
				return false
			}
			for _, s := range answer.Sites {
				if s.Site == shop {
					return s.Routes != nil && s.Questions["index"].Asked > 0
				}
			}
			return false
		})
	}
}

// lock locks the shop down on all gateways.
func (f *fleet) lock() {
	f.t.Helper()
	got, err := f.answered(func() (client.Reply, error) {
		req, err := client.Request(f.t.Context(), f.gateways[0].Admin(), "POST "+adminapi.Path+adminapi.LockdownPath, `{"for":"1h","site":"`+shop+`"}`, client.Typed("{"))
		if err != nil {
			f.t.Fatal(err)
		}
		return client.Do(httpClient, req)
	})
	if err != nil || got.Status != http.StatusOK {
		f.t.Fatal(got, err)
	}
}

// upload sends half of a body to each gateway, and the rest when the test ends.
func (f *fleet) upload() {
	f.t.Helper()
	for _, g := range f.gateways {
		body, half := io.Pipe()
		req, err := client.RequestFrom(f.t.Context(), "http://"+g.Address, "POST /wp-json/wp/v2/media", body, client.Lines("Host: "+shop, "Content-Type: image/png"), f.login("admin"))
		if err != nil {
			f.t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = client.Do(httpClient, req) // only what is on disk meanwhile counts
		}()
		f.t.Cleanup(func() {
			_ = half.Close()
			<-done
		})
		if _, err := half.Write(make([]byte, 200_000)); err != nil {
			f.t.Fatal(err)
		}
	}
}
