//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// checkSweep sends anonymous requests to one site.
func (s *stack) checkSweep(ctx context.Context, c *checks, site *site) {
	all, err := endpoints(ctx, s.gate(site.Name, modeBare))
	if err != nil || len(all) < 100 {
		c.failf("REST index", "%d endpoints: %v", len(all), err)
		return
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	g := s.gate(site.Name, modeLocked)
	sent := 0
	for _, e := range all {
		for i, m := range e.forms() {
			sent++
			tag := fmt.Sprintf("sweep-%s-%d", site.Name, sent)
			group.Go(func() error {
				err := s.tryAnonymous(groupCtx, g, e, m, tag)
				c.check(fmt.Sprintf("%s %s form %d", e.method, e.pattern, i), err)
				return groupCtx.Err()
			})
		}
	}
	if err := group.Wait(); err != nil {
		c.failf("run", "%v", err)
	}
	c.t.Logf("%d endpoints, %d requests", len(all), sent)
	checkOpen(ctx, c, g)
}

// forms are the ways to address an endpoint: pretty, rest_route on two paths,
// names that PHP folds, and a form body.
func (e *endpoint) forms() []*message {
	route := url.QueryEscape(e.path)
	list := []*message{
		{method: e.method, target: "/wp-json" + e.path},
		{method: e.method, target: "/?rest_route=" + route},
		{method: e.method, target: "/index.php?rest_route=" + e.path},
		{method: e.method, target: "/?rest.route=" + route},
		{method: "POST", target: "/?_method=" + e.method, body: "rest_route=" + route, headers: []string{formType}},
		{method: "POST", target: "/wp-json" + e.path + "?_method=" + e.method, body: "a=b", headers: []string{formType}},
		{method: "GET", target: "/wp-json" + e.path, headers: []string{"X-HTTP-Method-Override: " + e.method}},
	}
	if e.path == "/" { // an empty route is a page
		list = slices.Delete(list, 5, 7)
	}
	return list
}

// overridden tells whether a header alone changes the method: then both must be open.
func (m *message) overridden() bool {
	return slices.ContainsFunc(m.headers, func(line string) bool { return strings.HasPrefix(line, "X-HTTP-Method-Override:") })
}

// hidesBatch tells whether m overrides the POST of a batch: a server may drop what does.
func (e *endpoint) hidesBatch(m *message) bool {
	batch := e.pattern == "/batch/v1" || strings.HasSuffix(e.pattern, "/batch")
	return batch && m.method == "POST" && slices.Contains([]string{"GET", "HEAD", "OPTIONS", "DELETE"}, e.method)
}

// openTo tells whether the exceptions of the locked sites name an endpoint.
func (e *endpoint) openTo(method string) bool {
	if e.pattern == "/complianz/v1/track" || e.pattern == "/wc-stripe/v1/webhook" {
		return method == "POST"
	}
	// The checkout's old address, without a version, is another name of the same.
	return e.pattern == "/wc/store/v1" || strings.HasPrefix(e.pattern, "/wc/store/")
}

func (s *stack) tryAnonymous(ctx context.Context, g *gate, e endpoint, m *message, tag string) error {
	a, err := send(ctx, g, m.render(g, tag))
	if err != nil {
		return err
	}
	seen, err := s.readTrace(tag)
	if err != nil {
		return err
	}
	if e.hidesBatch(m) {
		if seen.loaded || a.status != 400 || a.code != "rest_ambiguous_request" {
			return fmt.Errorf("%s %s hides a batch and answered: %s; WordPress ran %s", m.method, m.target, a, seen.describe())
		}
		return nil
	}
	if e.openTo(e.method) && (!m.overridden() || e.openTo(m.method)) {
		if a.refused() || !seen.loaded {
			return fmt.Errorf("%s %s is open and did not reach WordPress: %s", m.method, m.target, a)
		}
		return nil
	}
	if seen.loaded || !a.refused() || a.status < 400 {
		return fmt.Errorf("%s %s (%q) answered: %s; WordPress ran %s", m.method, m.target, m.body, a, seen.describe())
	}
	if codes := []string{"rest_not_logged_in", "rest_forbidden", "rest_invalid_signature"}; e.method != "HEAD" && !slices.Contains(codes, a.code) {
		return fmt.Errorf("%s %s is refused with %s", m.method, m.target, a)
	}
	return nil
}

// checkOpen is that the exceptions do what they are open for.
func checkOpen(ctx context.Context, c *checks, g *gate) {
	for _, route := range []string{"/complianz/v1/track", "/wc-stripe/v1/webhook"} {
		a, err := fetch(ctx, g, request{method: "POST", path: "/index.php?rest_route=" + route, body: `{"choice":"all"}`})
		if err == nil && (a.status != 200 || !strings.Contains(string(a.body), `"success":true`)) {
			err = fmt.Errorf("%s", a)
		}
		c.check("open "+route, err)
	}
	c.check("guest checkout", guestCheckout(ctx, g))
}

// guestCheckout fills a cart and buys, as a visitor does.
func guestCheckout(ctx context.Context, g *gate) error {
	a, err := fetch(ctx, g, request{path: "/index.php?rest_route=/wc/store/v1/cart"})
	if err != nil {
		return err
	}
	token := "Cart-Token: " + a.header.Get("Cart-Token")
	for _, step := range []struct{ route, body, want string }{
		{"cart/add-item", `{"id":1,"quantity":2}`, `"total_price":"2000"`},
		{"checkout", `{"expected_total":2000,"billing_address":{"country":"US"}}`, `"total":"2000"`},
	} {
		a, err := fetch(ctx, g, request{
			method: "POST", path: "/index.php?rest_route=/wc/store/v1/" + step.route, body: step.body, headers: []string{token},
		})
		if err != nil {
			return err
		}
		if a.status != 200 || !strings.Contains(string(a.body), step.want) {
			return fmt.Errorf("%s: %s", step.route, a)
		}
	}
	return nil
}
