//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The record types of the shop.
const (
	typeOrder        = "shop_order"
	typeSubscription = "shop_subscription"
)

// checkBareConversions goes through the doors without the gateway.
func (s *stack) checkBareConversions(ctx context.Context, c *checks, bare *gate) {
	for _, d := range doorsAt(bare.Site) {
		c.check(d.name, s.tryBare(ctx, bare, d))
	}
}

// checkConversions goes through the doors at one gate.
func (s *stack) checkConversions(ctx context.Context, c *checks, g *gate) {
	for _, d := range doorsAt(g.Site) {
		c.check(d.name, s.tryGuarded(ctx, g, d))
	}
	c.check("an order is updated", s.tryHonest(ctx, g))
}

// tryNeighbour gives two sites that differ in nothing but the port of their
// address the same id, an order at one and a subscription at the other: what is
// proven at the one must not be believed at the other.
func (s *stack) tryNeighbour(ctx context.Context, one, other *gate) error {
	id := one.Site.Orders[2]
	m := shopManager("PUT", fmt.Sprintf("/wp-json/wc/v3/orders/%d", id), `{}`, jsonType)
	a, err := send(ctx, one, m.render(one, "neighbour"))
	if err != nil {
		return err
	}
	if a.status != 200 {
		return fmt.Errorf("the order is not updated: %s", a)
	}
	change := "UPDATE {prefix}standin_records SET type = '%s' WHERE id = %d"
	if _, err := s.sql(ctx, other.Site, fmt.Sprintf(change, typeSubscription, id)); err != nil {
		return err
	}
	if a, err = send(ctx, other, m.render(other, "neighbour")); err != nil {
		return err
	}
	kept, err := s.recordType(ctx, other.Site, id)
	if err != nil {
		return err
	}
	if _, err := s.sql(ctx, other.Site, fmt.Sprintf(change, typeOrder, id)); err != nil {
		return err
	}
	if kept != typeSubscription {
		return fmt.Errorf("the subscription is now %s; the answer: %s", kept, a)
	}
	return nil
}

// tryBare expects the conversion, and undoes it.
func (s *stack) tryBare(ctx context.Context, g *gate, d door) error {
	a, err := send(ctx, g, d.render(g, "bare"))
	if err != nil {
		return err
	}
	sub := g.Site.Subscriptions[0]
	kept, err := s.recordType(ctx, g.Site, sub)
	if err != nil {
		return err
	}
	if (kept == typeSubscription) != d.kept {
		return fmt.Errorf("subscription %d is now %s; the answer: %s", sub, kept, a)
	}
	_, err = s.sql(ctx, g.Site, fmt.Sprintf("UPDATE {prefix}standin_records SET type = '%s' WHERE id = %d", typeSubscription, sub))
	return err
}

// tryGuarded expects that the record keeps its type, and that what would convert
// it is refused by the gateway in the shop's words or as having two readings.
func (s *stack) tryGuarded(ctx context.Context, g *gate, d door) error {
	a, err := send(ctx, g, d.render(g, "guarded"))
	if err != nil {
		return err
	}
	sub := g.Site.Subscriptions[0]
	kept, err := s.recordType(ctx, g.Site, sub)
	if err != nil {
		return err
	}
	if kept != typeSubscription {
		return fmt.Errorf("subscription %d is now %s; the answer: %s", sub, kept, a)
	}
	if d.kept || g.Site.Permalinks == "" || g.Site.Apache != 0 { // there some doors are pages, or lead nowhere
		return nil
	}
	code := strings.TrimPrefix(a.decision[strings.LastIndexByte(a.decision, ' ')+1:], "-")
	if a.status != 400 || !slices.Contains([]string{"woocommerce_rest_shop_order_invalid_id", "rest_ambiguous_request"}, code) {
		return fmt.Errorf("not refused as expected: %s", a)
	}
	return nil
}

// tryHonest is the control: the gateway does not refuse updates as such.
func (s *stack) tryHonest(ctx context.Context, g *gate) error {
	order := g.Site.Orders[1]
	m := shopManager("PUT", fmt.Sprintf("/index.php?rest_route=/wc/v3/orders/%d", order), `{"customer_note":"honest"}`, jsonType)
	a, err := send(ctx, g, m.render(g, "honest"))
	if err != nil {
		return err
	}
	rows, err := s.sql(ctx, g.Site, fmt.Sprintf("SELECT customer_note FROM {prefix}standin_records WHERE id = %d", order))
	if err == nil && (a.status != 200 || rows[0] != "honest") {
		err = fmt.Errorf("the note is %q; the answer: %s", rows[0], a)
	}
	return err
}

func (s *stack) recordType(ctx context.Context, site *site, id int) (string, error) {
	rows, err := s.sql(ctx, site, fmt.Sprintf("SELECT type FROM {prefix}standin_records WHERE id = %d", id))
	if err != nil {
		return "", err
	}
	return rows[0], nil
}
