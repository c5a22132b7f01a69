//go:build !race

package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestMemory_Grown: 100 clients of each kind of request that could grow, all at the same
// moment and with the default configuration, while the platform answers none of them.
func TestMemory_Grown(t *testing.T) {
	const each, bound = 100, 384
	var waiting, done atomic.Int64
	let := make(chan struct{})
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path != "/" { // by which it is seen that the gateway has started
			waiting.Add(1)
			<-let
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(platform.Close)
	p := startProcess(t, "memory", "\trestwarden wordpress\n\treverse_proxy "+platform.Listener.Addr().String()+"\n")
	patient := &http.Client{Timeout: 4 * time.Minute, Transport: strangers.Transport} // until all wait
	var group sync.WaitGroup
	var statuses sync.Map
	for name, kind := range grown {
		for i := range each {
			group.Go(func() {
				defer done.Add(1)
				target, line := kind.target, "GET "
				if strings.Contains(target, "%d") {
					target = fmt.Sprintf(target, i)
				}
				var headers []string
				if kind.body != "" {
					line, headers = "POST ", []string{"Content-Type: " + kind.contentType}
				}
				status, _, err := p.sendBy(patient, line+target, kind.body, headers...)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				count, _ := statuses.LoadOrStore(fmt.Sprintf("%s: %d", name, status), new(atomic.Int64))
				count.(*atomic.Int64).Add(1)
			})
		}
	}
	least := int64(each * (len(grown) - 2)) // the others wait for memory, or for each other's questions
	reached, since := int64(0), time.Now()
	wait.For(t, 3*time.Minute, "all requests", func() bool {
		if now := waiting.Load() + done.Load(); now != reached {
			reached, since = now, time.Now()
		}
		return waiting.Load() >= least && time.Since(since) > 2*time.Second
	})
	answered := done.Load()
	now, most := p.resident()
	held := waiting.Load()
	close(let)
	group.Wait()
	t.Logf("%d MiB resident while %d wait, at most %d; %d were answered before", now, held, most, answered)
	statuses.Range(func(what, count any) bool {
		t.Logf("%s: %d", what, count.(*atomic.Int64).Load())
		return true
	})
	if most > bound {
		t.Errorf("%d MiB in memory, more than %d", most, bound)
	}
}
