package policytest

import (
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// Shop answers like a shop in which 13 is a subscription, ids below 1000 are orders,
// and all others are missing (docs/platform III.3).
func Shop(extra map[string]*ask.Answer) *asktest.Platform {
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if a, ok := extra[q.Route]; ok {
			return a, nil
		}
		if q.As == ask.AsCaller && extra["caller"] != nil {
			return extra["caller"], nil
		}
		if strings.HasSuffix(q.Route, "/orders") {
			return asktest.JSON(200, `[{"id":7},{"id":8},{"id":9}]`), nil
		}
		var id int
		_, _ = fmt.Sscanf(strings.TrimPrefix(q.Route, "/wc/v3/orders/"), "%d", &id)
		notes := strings.HasSuffix(q.Route, "/notes/0")
		switch {
		case id == 13 && notes, id > 1000 && notes:
			return asktest.JSON(404, `{"code":"woocommerce_rest_order_invalid_id"}`), nil
		case id == 13:
			return asktest.JSON(200, `{"id":13}`), nil
		case id > 1000:
			return asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`), nil
		}
		return asktest.JSON(404, `{"code":"woocommerce_rest_invalid_id"}`), nil
	}}
}
