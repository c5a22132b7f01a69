package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// platform stands in for the content platforms of all sites. It answers anything at once.
// Each host has a REST index of its own.
type platform struct {
	address string
	server  *http.Server
	routes  string // of an index, with HOST in place of the host

	mu   sync.Mutex
	read map[string]bool // hosts whose index was read
}

func startPlatform(routes int) (*platform, error) {
	l, err := machine.Listen()
	if err != nil {
		return nil, err
	}
	p := &platform{address: l.Addr().String(), routes: index(routes), read: map[string]bool{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }() // ends with stop
	return p, nil
}

func (p *platform) stop() { _ = p.server.Close() }

// ServeHTTP implements http.Handler.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/wp-json/":
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, strings.ReplaceAll(p.routes, "HOST", r.Host)) //nolint:gosec // JSON for a measure
		p.mu.Lock()
		p.read[r.Host] = true
		p.mu.Unlock()
	case strings.HasPrefix(r.URL.Path, "/wp-json/"):
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	default:
		_, _ = w.Write([]byte("<!doctype html><title>A page</title>"))
	}
}

// indexPatience is how long a gateway has to read the indexes of all sites.
const indexPatience = 8 * time.Minute

// indexed waits until the indexes of n hosts were read, and returns how many were.
func (p *platform) indexed(ctx context.Context, n int) int {
	ctx, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	for {
		p.mu.Lock()
		read := len(p.read)
		p.mu.Unlock()
		if read >= n || ctx.Err() != nil {
			return read
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Parts of routes as plugins register them.
var (
	namespaces = []string{"wp/v2", "wc/v3", "wc/store/v1", "wc-analytics", "wc-admin", "contact-form-7/v1", "yoast/v1", "elementor/v1", "jetpack/v4", "wpforms/v1", "mailchimp/v3", "redirection/v1"}
	things     = []string{"posts", "orders", "products", "customers", "forms", "entries", "settings", "reports", "templates", "media", "coupons", "webhooks", "events", "tickets", "fields"}
	suffixes   = []string{
		"", `/(?P<id>[\d]+)`, `/(?P<id>[\d]+)/(?P<sub>[\w-]+)`, "/batch", `/(?P<parent>[\d]+)/revisions`,
		`/(?P<parent>[\d]+)/revisions/(?P<id>[\d]+)`, `/(?P<slug>[a-z0-9-]+)`, `/(?P<id>[\d]+)/autosaves`,
	}
)

// realRoutes are as many routes as a shop with a dozen plugins has, in a root of 2 MB.
const realRoutes = 1000

// index returns a REST index of n routes with HOST in place of the host, as long as those
// of real sites. One route is the host's own.
func index(n int) string {
	var b strings.Builder
	b.WriteString(`{"name":"HOST","description":"","url":"http://HOST","home":"http://HOST","namespaces":["`)
	b.WriteString(strings.Join(namespaces, `","`))
	b.WriteString(`"],"authentication":{},"routes":{`)
	b.WriteString(`"/":{"namespace":"","methods":["GET"],"endpoints":[],"_links":{"self":[{"href":"http://HOST/wp-json/"}]}}`)
	if n > 1 {
		b.WriteString(`,"/wpforms/v1/forms/HOST":{"namespace":"wpforms/v1","methods":["GET"],"endpoints":[]}`)
	}
	for i := range n - 2 {
		writeRoute(&b, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

func writeRoute(b *strings.Builder, i int) {
	namespace := namespaces[i%len(namespaces)]
	rest := i / len(namespaces)
	thing, suffix := things[rest%len(things)], suffixes[rest/len(things)%len(suffixes)]
	if again := rest / len(things) / len(suffixes); again > 0 {
		thing += fmt.Sprint("-", again)
	}
	route := strings.ReplaceAll("/"+namespace+"/"+thing+suffix, `\`, `\\`)
	fmt.Fprintf(b, `,"%s":{"namespace":"%s","methods":["GET","POST"],"endpoints":[`, route, namespace)
	const args = `"context":{"description":"Scope under which the request is made; determines fields present in response.","type":"string","enum":["view","embed","edit"],"default":"view","required":false},` +
		`"page":{"description":"Current page of the collection.","type":"integer","default":1,"minimum":1,"required":false},` +
		`"per_page":{"description":"Maximum number of items to be returned in result set.","type":"integer","default":10,"minimum":1,"maximum":100,"required":false},` +
		`"search":{"description":"Limit results to those matching a string.","type":"string","required":false},` +
		`"after":{"description":"Limit response to posts published after a given ISO8601 compliant date.","type":"string","format":"date-time","required":false},` +
		`"order":{"description":"Order sort attribute ascending or descending.","type":"string","default":"desc","enum":["asc","desc"],"required":false}`
	fmt.Fprintf(b, `{"methods":["GET"],"args":{%s}},{"methods":["POST"],"args":{%s}}]`, args, args)
	fmt.Fprintf(b, `,"_links":{"self":[{"href":"http://HOST/wp-json%s"}]}}`, "/"+namespace+"/"+thing)
}
