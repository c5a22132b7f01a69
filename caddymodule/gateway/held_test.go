//go:build !race

package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// nested are 999 pairs of a form or a query with as many brackets as have a certain reading.
func nested(name string, length int) string {
	var b strings.Builder
	for i := 0; i < 999 && b.Len() < length; i++ {
		b.WriteString("&" + fmt.Sprintf(name, i) + strings.Repeat("[]", 60-strings.Count(name, "[")) + "=")
	}
	return b.String()[1:]
}

// manyMembers is a batch whose parts have as many members as an object may have.
func manyMembers(parts int) string {
	var b strings.Builder
	for i := range 4090 {
		fmt.Fprintf(&b, `,"%x":0`, i)
	}
	part := `{"path":"/wc/store/v1/cart/add-item","body":{` + b.String()[1:] + `}}`
	return `{"requests":[` + strings.Repeat(part+",", parts-1) + part + `]}`
}

// grown are requests that would grow in memory if all of them were built. Caddy takes no longer
// head by default than that of the query.
var grown = map[string]struct{ target, contentType, body string }{
	"brackets to a refund":    {"/wp-json/wc/v3/orders/5/refunds", "application/x-www-form-urlencoded", nested("a%d", 1<<20)},
	"brackets beside a key":   {"/wp-json/wc/v3/orders/5?consumer_key=ck_%d&consumer_secret=cs_%[1]d", "application/x-www-form-urlencoded", nested("a%d", 1<<20)},
	"brackets to a checkout":  {"/wp-json/wc/store/v1/checkout", "application/x-www-form-urlencoded", nested("a%d", 1<<20)},
	"brackets in a query":     {"/wp-json/wp/v2/posts?" + nested("_embed[x%d]", 15<<10), "", ""},
	"brackets in a batch":     {"/wp-json/wc/store/v1/batch", "application/x-www-form-urlencoded", "requests[0][path]=/wc/store/v1/cart/add-item&" + nested("requests[0][body][a%d]", 110<<10)},
	"members of a JSON batch": {"/wp-json/wc/store/v1/batch", "application/json", manyMembers(25)},
}

// TestHeld: what 100 requests of each kind take while the platform works on them, or on
// questions about them, is at most twice what was sent, and it is counted. A request of a few
// bytes takes 16 KiB, too.
func TestHeld(t *testing.T) {
	const each = 100
	g := provisioned(t, `{"platform":"wordpress"}`)
	memory, err := pool.Lease(&g.app.leases, pool.Memory{Limit: budget.MemoryFor(call.DefaultBodyLimit)}, func() (*budget.Memory, error) { panic("it is there") })
	if err != nil {
		t.Fatal(err)
	}
	all, live := int64(0), func() int64 {
		bytes := heap.Live()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return bytes + int64(m.StackInuse)
	}
	for name, kind := range grown {
		t.Run(name, func(t *testing.T) {
			before := live()
			var mu sync.Mutex
			working, done, forwarded := 0, 0, 0 // questions are among what the platform works on
			finish := make(chan struct{})
			next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				mu.Lock()
				working++
				if strings.HasPrefix(kind.target, r.URL.Path) {
					forwarded++
				}
				mu.Unlock()
				<-finish
				w.WriteHeader(http.StatusNoContent)
				return nil
			})
			var group sync.WaitGroup
			for i := range each {
				group.Go(func() {
					w := httptest.NewRecorder()
					target := kind.target
					if strings.Contains(target, "%d") {
						target = fmt.Sprintf(target, i)
					}
					r := prepared(w, target)
					if kind.body != "" {
						r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(kind.body)), int64(len(kind.body))
						r.Header.Set("Content-Type", kind.contentType)
					}
					if err := g.ServeHTTP(w, r, next); err != nil {
						t.Error(err)
					}
					mu.Lock()
					done++
					mu.Unlock()
				})
			}
			reached, since := 0, time.Now()
			wait.For(t, time.Minute, "all requests", func() bool {
				mu.Lock()
				defer mu.Unlock()
				if working+done > reached {
					reached, since = working+done, time.Now()
				}
				return reached >= each || reached > 0 && time.Since(since) > 2*time.Second // questions wait for others
			})
			held, counted, answered := live()-before, memory.Bytes(), done
			close(finish)
			group.Wait()
			sent := int64(len(kind.target) + len(kind.body))
			t.Logf("%d KiB sent, %d KiB held of each, %d counted; %d answered at once, %d forwarded", sent>>10, held>>10/each, counted>>10/each, answered, forwarded)
			if forwarded == 0 && !strings.Contains(kind.target, "%d") || reached == 0 {
				t.Error("none was forwarded")
			}
			if held > each*(2*sent+32<<10) || held > counted+each*64<<10 {
				t.Errorf("%d bytes are held for %d that were sent, and %d are counted", held/each, sent, counted/each)
			}
			all += held
		})
	}
	if all > 384<<20 {
		t.Errorf("%d MiB are held together", all>>20)
	}
}
