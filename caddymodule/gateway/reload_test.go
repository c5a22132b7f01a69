package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// TestReload: a reload under traffic loses no request, keeps counters and leaks
// nothing of the shared state.
func TestReload(t *testing.T) {
	p := newPlatform(t)
	slow := make(chan struct{})
	p.setAnswer(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/slow" {
			<-slow
		}
		return false
	})
	site := strings.Replace(loginOnly, "login_only", "login_only\n\t\trate_limit 3/1h /count/**", 1) + p.proxied()
	g := startGateway(t, site)
	for range 3 {
		g.do("GET /cms-json/count/x", "", asAdmin).want(t, 200, "")
	}
	goroutines := runtime.NumGoroutine()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					g.retry("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "/cms/v2/posts")
					g.retry("GET /cms-json/cms/v2/posts", "").want(t, 401, "")
					g.retry("POST /page", "a=b", form).want(t, 200, "a=b")
				}
			}
		})
	}
	clients.Go(func() { g.do("POST /slow", "a=b", form).want(t, 200, "a=b") })
	eventually(t, "the slow request is under way", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.seen, "POST /slow a=b")
	})
	go func() { time.Sleep(100 * time.Millisecond); close(slow) }() // while the first reload waits for it
	for range 10 {
		g.load(site)
	}
	close(stop)
	clients.Wait()
	g.do("GET /cms-json/count/x", "", asAdmin).want(t, 429, "rest_too_many_requests")
	for _, key := range []any{storeKey{}, pool.Spool{Dir: os.TempDir(), Limit: budget.SpoolFor(call.DefaultUploadLimit)}, questionsKey{128, false}, questionsKey{128, true}, pool.Memory{Limit: budget.MemoryFor(call.DefaultBodyLimit)}} {
		eventually(t, fmt.Sprintf("one reference to %T", key), func() bool { return pool.References(key) == 1 })
	}
	httpClient.CloseIdleConnections()
	p.CloseClientConnections() // those that reverse_proxy keeps alive
	eventually(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= goroutines+8 })
}

// retry repeats a request that met a listener which was just handed over: Caddy resets
// the backlog of the old one, with or without the gateway.
func (g *gateway) retry(line, body string, headers ...string) reply {
	method, target, _ := strings.Cut(line, " ")
	for {
		req, err := http.NewRequestWithContext(g.t.Context(), method, g.url+target, strings.NewReader(body))
		if err != nil {
			g.t.Error(err)
			return reply{}
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		res, err := httpClient.Do(req)
		if err != nil {
			if timeout, ok := errors.AsType[*url.Error](err); ok && timeout.Timeout() {
				g.t.Error(err)
				return reply{}
			}
			continue
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			g.t.Error(err)
		}
		return reply{res.StatusCode, res.Header, string(b)}
	}
}

// TestReload_Failed: a configuration that does not load changes nothing.
func TestReload_Failed(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	for range 3 {
		bad := adaptAndProvision(t, "http://localhost:8080 {\n\trestwarden cms {\n\t\tallow signed nobody /x\n\t}\n}\n")
		if !strings.Contains(bad, "there is no signature") {
			t.Fatal(bad)
		}
	}
	if n := pool.References(storeKey{}); n != 1 {
		t.Errorf("%d references to the store", n)
	}
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
}
