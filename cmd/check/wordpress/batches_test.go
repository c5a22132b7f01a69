//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// batches are batches of updates, and how many questions they may cost. "" is no record.
var batches = []struct {
	name    string
	records []string // "type status"
	refused bool
	asked   int
}{
	{"orders", slices.Repeat([]string{"shop_order processing"}, 100), false, 1},
	{"trashed orders", slices.Repeat([]string{"shop_order trash"}, 100), false, 2},
	{"drafts of the checkout", slices.Repeat([]string{"shop_order checkout-draft"}, 100), false, 3},
	{"drafts that no list shows", slices.Repeat([]string{"shop_order draft"}, 100), false, 105},
	{"subscriptions", slices.Repeat([]string{"shop_subscription active"}, 100), true, 19},
	{"no records", slices.Repeat([]string{""}, 100), false, 110},
	{"a mix of orders", mixedOrders, false, 3},
	{"a mix and a trashed subscription", append(slices.Clone(mixedOrders), "shop_subscription trash"), true, 5},
}

var mixedOrders = slices.Concat(slices.Repeat([]string{"shop_order processing"}, 40),
	slices.Repeat([]string{"shop_order trash"}, 30), slices.Repeat([]string{"shop_order checkout-draft"}, 29))

// checkBatches counts the questions about each batch, and looks up what is booked: every
// order of a batch that passes, nothing of one that is refused.
func (s *stack) checkBatches(ctx context.Context, c *checks, g *gate) {
	first := 100_000
	for _, b := range batches {
		c.check(b.name, s.tryBatch(ctx, c, g, first, b.records, b.refused, b.asked))
		first += 1000
	}
	_, err := s.sql(ctx, g.Site, "DELETE FROM {prefix}standin_records WHERE id >= 100000")
	c.check("the records are gone", err)
}

func (s *stack) tryBatch(ctx context.Context, c *checks, g *gate, first int, records []string, refused bool, most int) error {
	var rows, items []string
	orders := 0
	for i, record := range records {
		kind, status, is := strings.Cut(record, " ")
		if is {
			rows = append(rows, fmt.Sprintf("(%d, '%s', '%s', '')", first+i, kind, status))
		}
		if kind == typeOrder {
			orders++
		}
		items = append(items, fmt.Sprintf(`{"id":%d,"customer_note":"batch"}`, first+i))
	}
	if rows != nil {
		if _, err := s.sql(ctx, g.Site, "INSERT INTO {prefix}standin_records (id, type, status, customer_note) VALUES "+strings.Join(rows, ",")); err != nil {
			return err
		}
	}
	before, err := s.askedAboutRecords(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	admin := g.Site.Accounts["administrator"]
	a, err := fetch(ctx, g, request{
		method: "POST", path: "/wp-json/wc/v3/orders/batch", body: `{"update":[` + strings.Join(items, ",") + `]}`, as: &admin,
	})
	if err != nil {
		return err
	}
	took := time.Since(start)
	after, err := s.askedAboutRecords(ctx)
	if err != nil {
		return err
	}
	c.t.Logf("%d ids, %q first: %d questions, %s", len(records), records[0], after-before, took.Round(time.Millisecond))
	booked, err := s.sql(ctx, g.Site, fmt.Sprintf(
		"SELECT COUNT(*), COALESCE(SUM(type = '%s' AND customer_note = 'batch'), 0), COALESCE(SUM(customer_note = ''), 0) FROM {prefix}standin_records WHERE id BETWEEN %d AND %d",
		typeOrder, first, first+999))
	if err != nil {
		return err
	}
	want := fmt.Sprintf("%d\t%d\t%d", len(rows), orders, len(rows)-orders)
	if refused {
		want = fmt.Sprintf("%d\t0\t%d", len(rows), len(rows))
	}
	switch {
	case booked[0] != want:
		return fmt.Errorf("records, booked, untouched: %q, want %q; the answer: %s", booked[0], want, a)
	case refused != (a.status == 400 && a.refused()) || !refused && a.status != 200:
		return fmt.Errorf("%s", a)
	case after-before > most:
		return fmt.Errorf("%d questions, want %d at most", after-before, most)
	}
	return nil
}

// askedAboutRecords returns how many questions about records the gateway has put.
func (s *stack) askedAboutRecords(ctx context.Context) (n int, err error) {
	text, err := s.metrics(ctx)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if strings.HasPrefix(name, `caddy_restwarden_lookups_total{kind="record"`) && !strings.Contains(name, "cached") {
			asked, _ := strconv.ParseFloat(value, 64)
			n += int(asked)
		}
	}
	return n, err
}
