package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
)

// reloads returns how often TestGateways_Reloads reloads, over both processes.
func reloads(t *testing.T) int {
	t.Helper()
	nightly, err := environment.Nightly()
	if err != nil {
		t.Fatal(err)
	}
	if nightly > 0 {
		return 200
	}
	return 60
}

// reloaded is two processes that are reloaded while clients call.
type reloaded struct {
	t       *testing.T
	reloads int
	both    [2]*process
	sent    atomic.Int64
	lost    atomic.Int64 // without any answer
	limit   string       // header of a client that has used up its limit
}

// TestGateways_Reloads: many reloads with a changed rule each, on two gateways with one
// Redis, under traffic. No request is lost but those that Caddy alone loses as well,
// nothing stays behind, and what was used up before stays used up.
func TestGateways_Reloads(t *testing.T) {
	p, reloads := startPair(t), reloads(t)
	bare := &reloaded{t: t, reloads: reloads, both: [2]*process{startProcess(t, "memory", p.proxied()), startProcess(t, "memory", p.proxied())}}
	without := bare.reload(sharing("memory"), func(i int) string { return fmt.Sprintf("\theader X-Config %d\n", i) + p.proxied() }, bare.pages)

	spool := t.TempDir()
	guarded := func(i int) string {
		return strings.Replace(p.block, "login_only", fmt.Sprintf("login_only\n\t\tspool_dir %s\n\t\tallow anyone GET /cms/v2/reload%d", spool, i), 1)
	}
	r := &reloaded{t: t, reloads: reloads, both: [2]*process{p.a, p.b}, limit: aClient()}
	for i := range 11 {
		want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 10]
		p.want("a limit of ten", r.both[i%2], want, getTaxonomies, "", r.limit)
	}
	admin := basicAuth("admin:" + p.info.Users["admin"].ApplicationPassword)
	p.platform.CloseClientConnections() // those that reverse_proxy keeps alive
	before := r.resources()
	lost := r.reload(sharing(p.store()), guarded, func(first, second *process) {
		r.calls(first, second, admin)
		r.pages(first, second)
	})
	t.Logf("lost in %d reloads: %d of %d with the gateway, %d of %d without", reloads, lost, r.sent.Load(), without, bare.sent.Load())
	if lost > 2*without+int64(reloads)/20 {
		t.Errorf("%d requests were lost, %d without the gateway", lost, without)
	}
	for i, g := range r.both {
		p.want("the last rule", g, http.StatusNotFound, fmt.Sprintf("GET /cms-json/cms/v2/reload%d", reloads-2+i), "")
		p.want("used up before", g, http.StatusTooManyRequests, getTaxonomies, "", r.limit)
	}
	p.platform.CloseClientConnections()
	r.nothingLeft(before, spool)
}

func (p *pair) proxied() string { return p.block[strings.Index(p.block, "\treverse_proxy"):] }

// reload reloads the processes in turn, with site for each reload, while clients do their
// work on both. It returns how many requests were lost.
func (r *reloaded) reload(global string, site func(i int) string, work func(first, second *process)) (lost int64) {
	r.t.Helper()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for worker := range 4 {
		clients.Go(func() {
			for i := worker; ; i++ {
				select {
				case <-stop:
					return
				default:
					work(r.both[i%2], r.both[(i+1)%2])
				}
			}
		})
	}
	for i := range r.reloads {
		g := r.both[i%2]
		g.Write(global, site(i))
		if err := g.Reload(); err != nil && !dropped(err) {
			r.t.Errorf("reload %d: %v", i, err)
		}
	}
	close(stop)
	clients.Wait()
	return r.lost.Load()
}

// dropped tells whether a connection ended before any answer came.
func dropped(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)
}

// send sends a request on a connection of its own. ok is false for a lost one.
func (r *reloaded) send(g *process, line, body string, headers ...string) (status int, ok bool) {
	r.sent.Add(1)
	req, err := client.Request(r.t.Context(), "http://"+g.Address, line, body, client.Lines(headers...))
	if err != nil {
		r.t.Error(err)
		return 0, false
	}
	got, err := client.Do(strangers, req)
	switch {
	case err != nil && dropped(err):
		r.lost.Add(1)
	case err != nil:
		r.t.Error(line, err)
	}
	return got.Status, err == nil
}

func (r *reloaded) want(status int, g *process, line, body string, headers ...string) (ok bool) {
	got, ok := r.send(g, line, body, headers...)
	if ok && got != status {
		r.t.Errorf("%s: %d, want %d", line, got, status)
	}
	return ok
}

// pages sends a page and an upload that is large enough for a file.
func (r *reloaded) pages(first, second *process) {
	if status, ok := r.send(first, "GET /page", ""); ok && status >= http.StatusInternalServerError {
		r.t.Errorf("a page: %d", status)
	}
	upload, contentType := client.Multipart("a", strings.Repeat("x", 300<<10))
	if status, ok := r.send(second, "POST /page", upload, "Content-Type: "+contentType); ok && status >= http.StatusInternalServerError {
		r.t.Errorf("an upload: %d", status)
	}
}

// calls sends calls whose decisions do not change with the reloads.
func (r *reloaded) calls(first, second *process, admin string) {
	r.want(http.StatusOK, first, getPosts, "", admin)
	r.want(http.StatusUnauthorized, second, getPosts, "")
	r.want(http.StatusTooManyRequests, first, getTaxonomies, "", r.limit)
	body, headers := signedConsent()
	if r.want(http.StatusOK, second, postConsent, body, headers...) {
		r.want(http.StatusUnauthorized, first, postConsent, body, headers...)
	}
}

// inUse is what a process has open.
type inUse struct{ goroutines, descriptors int }

var goroutineTotal = regexp.MustCompile(`total (\d+)`)

// resources returns what each process has open, now that nobody calls.
func (r *reloaded) resources() (all [2]inUse) {
	r.t.Helper()
	for i, g := range r.both {
		req, err := client.Request(r.t.Context(), g.Admin(), "GET /debug/pprof/goroutine?debug=1", "")
		if err != nil {
			r.t.Fatal(err)
		}
		got, err := client.Do(strangers, req)
		m := goroutineTotal.FindStringSubmatch(got.Body)
		if err != nil || m == nil {
			r.t.Fatal(got.Status, err)
		}
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.PID()))
		if err != nil {
			r.t.Fatal(err)
		}
		n, _ := strconv.Atoi(m[1]) // digits
		all[i] = inUse{n, len(open)}
	}
	return all
}

// nothingLeft waits until the processes have no more open than before. Some connections to
// the platform and to Redis stay open for a while.
func (r *reloaded) nothingLeft(before [2]inUse, spool string) {
	r.t.Helper()
	const slack = 16
	var now [2]inUse
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		now = r.resources()
		left := false
		for i := range now {
			left = left || now[i].goroutines > before[i].goroutines+slack || now[i].descriptors > before[i].descriptors+slack
		}
		if !left {
			break
		}
		if time.Now().After(end) {
			r.t.Errorf("open before: %+v, after the reloads: %+v", before, now)
			break
		}
	}
	r.t.Logf("open before: %+v, after: %+v", before, now)
	files, err := os.ReadDir(spool)
	if err != nil || len(files) > 0 {
		r.t.Errorf("files in the spool: %v, %v", files, err)
	}
	var deleted bytes.Buffer // a spool file may be open without a name
	for _, g := range r.both {
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.PID()))
		for _, fd := range open {
			if name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", g.PID(), fd.Name())); strings.HasPrefix(name, spool) {
				deleted.WriteString(name + "\n")
			}
		}
	}
	if deleted.Len() > 0 {
		r.t.Errorf("open files of the spool:\n%s", deleted.String())
	}
}
