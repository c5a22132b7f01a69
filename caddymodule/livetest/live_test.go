package livetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
)

// deciding are the headers that must arrive as they were sent.
var deciding = []string{
	"Content-Type", "X-Http-Method-Override", "Authorization", "Cookie", "Content-Encoding", "X-Wp-Nonce",
	"X-Signature", "X-Timestamp", "Cart-Token", "Nonce", "Origin",
}

// front is a kind of server behind the gateway, with the addresses of a site at
// the root and one in a sub-folder.
type front struct {
	name    string
	backend *backend
	address map[string]string // by base; "open" before it without the built-in rules
	secure  map[string]string // the same over TLS
	fastcgi bool

	pages, calls, batches, refused, unsaid atomic.Int64 // of the recordings
}

// fronts runs Caddy with a reverse_proxy and a php_fastcgi site for each base,
// with the directive as most sites have it, and without its built-in rules.
func fronts(tb testing.TB) []*front {
	tb.Helper()
	return frontsFor(tb, http1)
}

// frontsFor is fronts for all of these protocols.
func frontsFor(tb testing.TB, protocols ...string) []*front {
	tb.Helper()
	proxy := &front{name: "reverse_proxy", backend: newBackend(tb), address: map[string]string{}, secure: map[string]string{}}
	php := &front{name: "php_fastcgi", backend: newFastCGI(tb), address: map[string]string{}, secure: map[string]string{}, fastcgi: true}
	root := scripts(tb)
	var sites []block
	var keys []func(address string)
	for _, f := range []*front{proxy, php} {
		for _, base := range []string{"", "/blog"} {
			for _, rules := range []string{"", "open"} {
				last := f.backend.proxied()
				if f.fastcgi {
					last = f.backend.php(root, base)
				}
				body := "\trestwarden wordpress {\n" + options(base, rules) + "\t}\n\twitness\n" + last
				sites = append(sites, block{Body: body})
				keys = append(keys, func(address string) { f.address[rules+base] = address })
				if len(protocols) > 1 {
					sites = append(sites, block{Secure: true, Body: "\ttls internal\n" + body})
					keys = append(keys, func(address string) { f.secure[rules+base] = address })
				}
			}
		}
	}
	for i, address := range run(tb, "", sites...) {
		keys[i](address)
	}
	return []*front{proxy, php}
}

// at returns the addresses for a protocol.
func (f *front) at(protocol string) map[string]string {
	if protocol == http1 {
		return f.address
	}
	return f.secure
}

func options(base, rules string) (s string) {
	if base != "" {
		s += "\t\tbase " + base + "\n"
	}
	if rules == "open" {
		s += "\t\trecommended off\n"
	}
	return s
}

// TestLive_Recordings sends every recorded request through a running Caddy, to each front
// over HTTP/1.1, and to one of them over HTTP/2, to the other over HTTP/3. Nothing reaches
// the backend but what was judged as what the real platform ran, and it arrives as it was
// sent.
func TestLive_Recordings(t *testing.T) {
	all := recordings.Requests(t)
	for n, f := range frontsFor(t, allProtocols...) {
		sendAll(all, n, func(by *client, r *recordings.Recording) { f.hold(t, by, r) })
		for _, a := range f.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s %v", f.name, a.method, a.target, a.header)
		}
		pages, calls, batches, refused := f.pages.Load(), f.calls.Load(), f.batches.Load(), f.refused.Load()
		t.Logf("%s: of %d requests, each over two protocols, %d pages, %d calls and %d batches arrived, %d are refused; HTTP/2 and 3 have no words for %d",
			f.name, len(all), pages, calls, batches, refused, f.unsaid.Load())
		if pages < 1000 || calls < 4000 || batches < 20 || refused < 4000 || f.unsaid.Load() > 50 {
			t.Errorf("%s: too few of a kind", f.name)
		}
	}
}

// sendAll sends each recording over HTTP/1.1, and over HTTP/2 or 3 in turn; n says which
// comes first.
func sendAll(all []*recordings.Recording, n int, send func(by *client, r *recordings.Recording)) {
	work := make(chan int)
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			first, streams := newClient(http1), []*client{newClient(http2), newClient(http3)}
			for i := range work {
				send(first, all[i])
				send(streams[(i+n)%2], all[i])
			}
			streams[0].close()
			streams[1].close()
		})
	}
	for i := range all {
		work <- i
	}
	close(work)
	senders.Wait()
}

// hold sends one recording and compares what came of it.
func (f *front) hold(t *testing.T, by *client, r *recordings.Recording) {
	t.Helper()
	at, rules := f.at(by.protocol), ""
	if by.protocol != http1 {
		rules = "open" // the first protocol has met the rules
	}
	got, passed := f.exchange(t, by, at[rules+r.Base()], r)
	if _, err := parse(r.Raw); err == nil && r.Honest() && got.is("rest_ambiguous_request") {
		t.Errorf("%s, %s: refused an honest request: %s", r.ID, by.protocol, got.body)
	}
	if !passed && rules == "" && (got.status == 401 || got.status == 403) { // by a rule, not for its reading
		got, passed = f.exchange(t, by, at["open"+r.Base()], r)
	}
	if !passed && (got.status >= 400 || by.protocol != http1 && got.status == 0) {
		f.refused.Add(1)
	}
}

// exchange sends the bytes of r; passed tells whether anything was forwarded.
func (f *front) exchange(t *testing.T, by *client, address string, r *recordings.Recording) (got reply, passed bool) {
	t.Helper()
	got, unsaid := by.send(t, address, r.Raw)
	if unsaid != "" {
		f.unsaid.Add(1)
		return reply{status: -1}, false
	}
	seen := ledger.take(got.conn)
	first, err := parse(r.Raw)
	if err == nil {
		first = first.over(by.protocol)
	}
	for i, j := range seen {
		complain := func(format string, args ...any) {
			t.Errorf("%s@%s %s, %s: %s\n%.600q", r.ID, r.Site, f.name, by.protocol, fmt.Sprintf(format, args...), r.Raw)
		}
		arrived := f.backend.take(j.n)
		if len(arrived) > 1 {
			complain("arrived %d times", len(arrived))
		}
		if i > 0 || err != nil {
			if len(arrived) > 0 {
				complain("forwarded, although it is no whole request or one too many")
			}
			continue
		}
		for _, o := range r.Outcomes {
			if why := j.agrees(&o); why != "" {
				complain("%s, by %v", why, o.By)
			}
		}
		for _, a := range arrived {
			passed = true
			f.count(j.kind)
			for _, why := range f.compare(first, j, a) {
				complain("%s", why)
			}
		}
	}
	return got, passed
}

func (f *front) count(kind string) {
	switch kind {
	case "page":
		f.pages.Add(1)
	case "call":
		f.calls.Add(1)
	case "batch":
		f.batches.Add(1)
	}
}

// compare tells how what arrived differs from what was sent and judged.
func (f *front) compare(s sent, j *judged, a *arrival) (faults []string) {
	differ := func(what string, sent, arrived any) {
		if x, y := fmt.Sprint(sent), fmt.Sprint(arrived); x != y {
			faults = append(faults, fmt.Sprintf("%s: sent %.300q, arrived %.300q (%s)", what, x, y, j.kind))
		}
	}
	path, query, _ := strings.Cut(s.RequestURI, "?")
	differ("query", query, a.query)
	differ("wire method", s.Method, a.method)
	if j.kind != "page" {
		differ("path", path, a.path())
		for _, name := range deciding {
			if f.fastcgi && name == "Content-Type" && s.Header.Get(name) == "" {
				continue // Caddy's client invents one, and the reading counts with it (docs/platform I.6)
			}
			differ(name, s.Header[name], a.header[name])
		}
		for name := range maps.Keys(a.header) {
			if strings.ContainsAny(name, "_.") {
				faults = append(faults, "header "+name+" arrived")
			}
		}
	}
	if f.fastcgi && slices.Contains([]string{"HEAD", "OPTIONS"}, s.Method) {
		return faults // Caddy's client drops the body of these
	}
	differ("body", s.body, a.body)
	return faults
}
