//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"strings"
)

// checkCheckout raises the price at one site.
func (s *stack) checkCheckout(ctx context.Context, c *checks, site *site) {
	c.check("bare", s.tryCheckout(ctx, s.gate(site.Name, modeBare), "checkout", 200, "", 1))
	for _, mode := range []string{modeDefault, modeLocked} {
		g := s.gate(site.Name, mode)
		const mismatch = "woocommerce_rest_checkout_total_mismatch"
		c.check(g.Name, s.tryCheckout(ctx, g, "checkout", 409, mismatch, 0))
		c.check(g.Name+" batch", s.tryCheckout(ctx, g, "batch", 409, mismatch, 0))
	}
}

// tryCheckout buys two pieces for 20.00 that cost 24.68 by then, and expects an
// answer and a number of orders placed.
func (s *stack) tryCheckout(ctx context.Context, g *gate, route string, status int, code string, orders int) error {
	post := func(route, body, token string) (*answer, error) {
		r := request{method: "POST", path: "/index.php?rest_route=/wc/store/v1/" + route, body: body}
		if token != "" {
			r.headers = []string{"Cart-Token: " + token}
		}
		return fetch(ctx, g, r)
	}
	a, err := fetch(ctx, g, request{path: "/index.php?rest_route=/wc/store/v1/cart"})
	if err != nil {
		return err
	}
	token := a.header.Get("Cart-Token")
	if a, err = post("cart/add-item", `{"id":1,"quantity":2}`, token); err != nil || a.status != 200 {
		return fmt.Errorf("add-item: %v %w", a, err)
	}
	before, err := s.placed(ctx, g.Site)
	if err != nil {
		return err
	}
	if err := s.setPrice(ctx, g.Site, 1234); err != nil {
		return err
	}
	body := `{"expected_total":2000}`
	if route == "batch" {
		body = `{"requests":[{"path":"/wc/store/v1/checkout","body":` + body + `}]}`
	}
	a, err = post(route, body, token)
	if errPrice := s.setPrice(ctx, g.Site, 1000); err == nil {
		err = errPrice
	}
	if err != nil {
		return err
	}
	after, err := s.placed(ctx, g.Site)
	if err == nil && (a.status != status || a.code != code || after-before != orders) {
		err = fmt.Errorf("%d orders placed; the answer: %s", after-before, a)
	}
	return err
}

func (s *stack) setPrice(ctx context.Context, site *site, price int) error {
	_, err := s.sql(ctx, site, fmt.Sprintf(
		"REPLACE INTO {prefix}options (option_name, option_value, autoload) VALUES ('standin_price', '%d', 'yes')", price,
	))
	return err
}

// placed returns how many orders the stand-in shop has taken: its list is a PHP
// array, "a:2:{…}".
func (s *stack) placed(ctx context.Context, site *site) (n int, err error) {
	rows, err := s.sql(ctx, site, "SELECT option_value FROM {prefix}options WHERE option_name = 'standin_placed'")
	if err != nil || !strings.HasPrefix(rows[0], "a:") {
		return 0, err
	}
	_, err = fmt.Sscanf(rows[0], "a:%d:", &n)
	return n, err
}
