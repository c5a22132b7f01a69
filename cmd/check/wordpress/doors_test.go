//go:build wordpress

package wordpress

import (
	"fmt"

	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
)

// door is one way to aim an order update at a subscription.
type door struct {
	name string
	message
	kept bool // the bare platform does not convert here either
}

const (
	jsonType = "Content-Type: application/json"
	formType = "Content-Type: application/x-www-form-urlencoded"
)

// doorsAt are the doors that every platform has, and those of the real platform
// alone, at the first order and the first subscription of a site.
func doorsAt(s *site) []door {
	order, sub := s.Orders[0], s.Subscriptions[0]
	list := ownDoors(sub)
	for _, d := range doors.All() {
		d = d.At(order, sub).In(names.WordPress)
		m := shopManager(d.Method, d.Target, d.Body, d.Headers...)
		kept := d.Kept && (s.Apache != 0 || !d.ByFastCGI)
		list = append(list, door{name: d.String(), message: m, kept: kept})
	}
	return list
}

func shopManager(method, target, body string, headers ...string) message {
	return message{method: method, target: target, body: body, headers: headers, as: "administrator"}
}

// ownDoors are the subscription's own route, a shop key, and the tool server of
// docs/platform III.7. The reference platform has tests of its own for them.
func ownDoors(sub int) []door {
	tool := func(params string) message {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, sub)
		return message{method: "POST", target: "/wp-json/woocommerce/mcp", body: body, headers: []string{jsonType, "X-MCP-API-Key: " + shopKey}}
	}
	own := shopManager("PUT", fmt.Sprintf("/wp-json/wc/v3/subscriptions/%d", sub), `{"customer_note":"x"}`, jsonType)
	key := message{method: "PUT", target: fmt.Sprintf("/wp-json/wc/v3/orders/%d", sub), headers: []string{"Authorization: " + basic("ck_standin", "cs_standin")}}
	return []door{
		{name: "own route", message: own, kept: true},
		{name: "shop key", message: key},
		{name: "tool server", message: tool(`{"name":"woocommerce-orders-update","arguments":{"id":%d}}`)},
		{name: "tool server, params in params", message: tool(`{"name":"read","params":{"name":"woocommerce-orders-update","arguments":{"id":%d}}}`)},
		{name: "tool server, a blank behind the name", message: tool(`{"name":"woocommerce-orders-update ","arguments":{"id":%d}}`)},
		{name: "tool server, NUL before the name", message: tool(`{"name":"\u0000woocommerce-orders-update","arguments":{"id":%d}}`)},
	}
}

// shopKey is what the stand-ins take for a read and write key.
const shopKey = "ck_standin:cs_standin"
