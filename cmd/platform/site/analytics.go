package site

import "slices"

// lowStock is the stock from which on a product counts as low.
const lowStock = 2

func (s *Site) analyticsRoutes() {
	ns, n := s.names.Analytics, s.names
	// The analytics orders extend those of v3 and inherit their update
	// (docs/platform III.7).
	ordersAPI{s, ns, 3}.register()
	view := needs(n.manageShop(), n.code("cannot_view"), "Sorry, you cannot list resources.")
	status := args{"status": {Type: "string"}, "per_page": {Type: "integer"}}
	s.router.add(ns, "/products/reviews", reading, endpoint{
		args: status, allow: needs("moderate_comments", n.code("cannot_view"), "Sorry, you cannot list resources."),
		run: func(q *request) (any, error) {
			q.total(0, 10)
			return []obj{}, nil
		},
	})
	s.router.add(ns, "/products/count-low-in-stock", reading, endpoint{args: status, allow: view, run: func(q *request) (any, error) {
		total := s.lowInStock("publish")
		q.total(total, 10)
		return obj{"total": total}, nil
	}})
	if s.since("11.1") {
		s.router.add(ns, "/activity-panel/counts", reading, endpoint{
			args: args{
				"order_statuses": {Type: "array", Default: []any{"processing", "on-hold"}},
				"review_status":  {Type: "string", Default: "hold"}, "product_status": {Type: "string", Default: "publish"},
			},
			allow: view, run: activityCounts,
		})
	}
	s.router.add(ns, "/admin/notes", reading, endpoint{allow: view, run: func(q *request) (any, error) {
		return page(q, s.inbox), nil
	}, args: collection})
}

// activityCounts answers in one call what three earlier routes answer
// (docs/project/interface E9).
func activityCounts(q *request) (any, error) {
	statuses, open := q.strings("order_statuses"), 0
	for _, r := range q.site.records {
		if r.Type == typeOrder && slices.Contains(statuses, r.Status) {
			open++
		}
	}
	return obj{
		"orders_to_fulfill_count": open, "reviews_to_moderate_count": 0,
		"products_low_in_stock_count": q.site.lowInStock(q.str("product_status")),
	}, nil
}

func (s *Site) lowInStock(status string) int {
	count := 0
	for _, p := range s.products {
		if p.status == status && p.stock <= lowStock {
			count++
		}
	}
	return count
}

// addInbox puts a notification into the admin inbox.
func (s *Site) addInbox(name, title, content string) {
	const maxInbox = 1000
	if len(s.inbox) == maxInbox {
		s.inbox = s.inbox[1:]
	}
	s.inbox = append(s.inbox, obj{
		"id": s.id(), "name": name, "type": "info", "status": "unactioned", "title": title, "content": content,
		"date_created": s.opt.Now().UTC().Format(date),
	})
}
