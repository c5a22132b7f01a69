//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// agentDoors aim an order update at a subscription, through a tool that runs REST inside, and
// through the shop's own server of tools.
func agentDoors(s *site) []door {
	sub := s.Subscriptions[0]
	inner := func(method string) string {
		return fmt.Sprintf(`{"name":"run_api_function","arguments":{"route":"/wc/v3/orders/%d","method":%q,"data":{"customer_note":"x"}}}`, sub, method)
	}
	at := func(target, body string) message {
		return shopManager("POST", "/wp-json"+target, body, jsonType, "Accept: application/json, text/event-stream")
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	list := []door{
		{name: "inner PUT", message: at("/wp/v2/wpmcp", call(inner("PUT")))},
		{name: "inner PATCH, no envelope", message: at("/wp/v2/wpmcp", `{"method":"tools/call","params":`+inner("PATCH")+`}`)},
		{name: "name beside method", message: at("/wp/v2/wpmcp", `{"method":"tools/call",`+inner("POST")[1:])},
		{name: "params in params", message: at("/wp/v2/wpmcp", call(`{"name":"lab_tool","params":`+inner("PUT")+`}`))},
		{name: "params in params in params", message: at("/wp/v2/wpmcp", call(`{"params":{"name":"x","params":`+inner("PUT")+`}}`))},
		{name: "streamable", message: at("/wp/v2/wpmcp/streamable", call(inner("PUT")))},
		{name: "streamable, a list", message: at("/wp/v2/wpmcp/streamable", "["+call(inner("PUT"))+"]")},
		{name: "streamable, the key 0", message: at("/wp/v2/wpmcp/streamable", `{"0":`+call(inner("PUT"))+"}")},
	}
	for _, d := range ownDoors(sub) {
		if strings.HasPrefix(d.name, "tool server") {
			list = append(list, d)
		}
	}
	return list
}

// testAgentConversions goes through the doors past the gateway, where each converts, and
// through it, where each is refused.
func (a *agents) testAgentConversions(t *testing.T, bare *standinGate, guarded map[string]*standinGate) {
	t.Helper()
	c := count(t)
	for _, d := range agentDoors(bare.Site) {
		c.check("bare, "+d.name, a.tryBare(t.Context(), &bare.gate, d))
		for name, g := range guarded {
			c.check(name+", "+d.name, a.tryRefused(t.Context(), &g.gate, d))
		}
	}
}

// tryRefused expects that the gateway refuses, and the record keeps its type.
func (s *stack) tryRefused(ctx context.Context, g *gate, d door) error {
	a, err := send(ctx, g, d.render(g, "refused"))
	if err != nil {
		return err
	}
	kept, err := s.recordType(ctx, g.Site, g.Site.Subscriptions[0])
	if err == nil && (kept != typeSubscription || !a.refused() || a.status != 400 && a.status != 403) {
		err = fmt.Errorf("the subscription is %s; the answer: %s", kept, a)
	}
	return err
}
