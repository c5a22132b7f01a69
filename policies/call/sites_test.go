package call

import (
	"strconv"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

func readerFor(site string) *Reader {
	p, _ := platforms.ByName("wordpress")
	s := Config{
		Platform: p, Credentials: []string{"Authorization", "X-Mcp-Api-Key", "X-Wp-Nonce", "Cart-Token", "Cookie", "Nonce", "Origin"},
		Headers: []string{"X-Signature", "X-Timestamp"},
	}
	if site == "subfolder" {
		s.Base = "/blog"
	}
	return NewReader(s)
}

var orderParts = []routes.Pattern{
	routes.MustPattern("/wc/v1/orders/:order_id/**"), routes.MustPattern("/wc/v2/orders/:order_id/**"), routes.MustPattern("/wc/v3/orders/:order_id/**"),
}

// orderOf returns the effective id of a call on an order or subscription, and on
// an order's sub-routes the effective id of the order.
func orderOf(c *Call) (string, bool, error) {
	if id, ok, err := c.ObjectID(); ok || err != nil {
		return id, ok, err
	}
	for _, p := range orderParts {
		if p.Match(c.Key) && digits(p.Group(c.Key, "order_id")) {
			ids, err := c.IDs("order_id", p.Group(c.Key, "order_id"))
			if err != nil {
				return "", true, err
			}
			return strconv.FormatUint(ids[0], 10), true, nil
		}
	}
	return "", false, nil
}
