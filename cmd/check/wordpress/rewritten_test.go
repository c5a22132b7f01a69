//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// checkRewritten is that the gateway's questions take the way of a rewrite before it: they
// say who is calling and what an order is, and find the REST root. The Caddy's admin interface
// is at the port admin.
func checkRewritten(ctx context.Context, c *checks, g *gate, admin int) {
	account := g.Site.Accounts["administrator"]
	order := fmt.Sprintf("wc/v3/orders/%d", g.Site.Orders[1])
	for _, form := range []string{"/wp-json/", "/?rest_route=/", "/index.php?rest_route=/"} {
		c.check("who is calling at "+form, answersTo(ctx, g, request{path: form + "wp/v2/users/me", as: &account}, "200"))
		m := message{method: http.MethodPut, target: form + order, body: `{"customer_note":"x"}`, headers: []string{jsonType}, as: "administrator"}
		a, err := send(ctx, g, m.render(g, "rewritten"))
		if err == nil && !want("200").matches(a) {
			err = fmt.Errorf("not updated: %s", a)
		}
		c.check("an order is updated at "+form, err)
	}
	c.check("a shop key", answersTo(ctx, g, request{path: "/wp-json/" + order, headers: []string{"Authorization: " + basic("ck_standin", "cs_standin")}}, "200"))
	c.check("nobody", answersTo(ctx, g, request{path: "/wp-json/wp/v2/posts"}, notLoggedIn))
	c.check("the REST root is found", rootFound(ctx, admin))
}

func answersTo(ctx context.Context, g *gate, r request, expect want) error {
	a, err := fetch(ctx, g, r)
	if err == nil && !expect.matches(a) {
		err = fmt.Errorf("expected %q, got %s", expect, a)
	}
	return err
}

// rootFound is that no site has a problem with its REST root.
func rootFound(ctx context.Context, admin int) error {
	metrics, err := metricsAt(ctx, admin)
	for line := range strings.Lines(metrics) {
		if strings.Contains(line, `problem="root"`) {
			err = fmt.Errorf("a REST root was not found: %s", line)
		}
	}
	return err
}
