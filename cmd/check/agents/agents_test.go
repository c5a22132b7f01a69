//go:build agents

package agents

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// Tools of the shop's server. In a list of tools they stand in this order.
const (
	ordersQuery   = "woocommerce-orders-query"
	productsQuery = "woocommerce-products-query"
	productDelete = "woocommerce-product-delete"
	storeHours    = "store_hours" // no ability
)

// readOnly are the rules of a shop whose agents may look, and nothing else.
const readOnly = "abilities {\nallow readonly core/* woocommerce/*\n}\n"

// denied is the code of a call that the rules do not allow.
const denied = "rest_forbidden"

// each runs a test with both clients.
func each(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// sum adds counts of requests.
func sum(counts ...map[string]int) map[string]int {
	all := map[string]int{}
	for _, c := range counts {
		for name, n := range c {
			all[name] += n
		}
	}
	return all
}

// TestAgents_ReadOnly: by the tools of a server, agents read and change nothing. A refusal
// is reported, and the client goes on in the same session.
func TestAgents_ReadOnly(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, shopServer, readOnly)
		a := k.start(t, s.door, s.as("admin"))
		a.works("connect", nil)
		if got, want := a.tools(), []string{ordersQuery, productsQuery}; !slices.Equal(got, want) {
			t.Errorf("tools %q, want %q", got, want)
		}
		a.runs(productsQuery, arguments{}, "Mug")
		a.refused(a.call(productDelete, arguments{"id": s.info.Products[0]}), 403, denied)
		a.refused(a.call(storeHours, arguments{}), 403, denied)
		a.refused(a.call(productDelete+" ", arguments{"id": s.info.Products[0]}), 400, "rest_ambiguous_request")
		a.refused(a.do("readResource", map[string]any{"uri": "shop://products"}), 403, denied)
		a.works("getPrompt", map[string]any{"name": "woocommerce-answer-customer", "arguments": map[string]string{"topic": "returns"}})
		a.works("ping", nil)
		a.runs(ordersQuery, arguments{"status": "processing"}, "processing")
		a.works("close", nil)
		if got, want := s.ran(), []string{"woocommerce/products-query", "woocommerce/answer-customer", "woocommerce/orders-query"}; !slices.Equal(got, want) {
			t.Errorf("%q ran, want %q", got, want)
		}
		s.sent(t, sum(k.session, map[string]int{
			"tools/list 200": 1, "tools/call 200": 2, "tools/call 403": 2, "tools/call 400": 1, "resources/read 403": 1, "prompts/get 200": 1,
		}, k.ping, k.close))
	})
}

// TestAgents_DefaultServer: the same by the three tools that run any ability.
func TestAgents_DefaultServer(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, defaultServer, readOnly)
		a := k.start(t, s.door, s.as("admin"))
		execute := func(id string, parameters arguments) outcome {
			return a.call("mcp-adapter-execute-ability", arguments{"ability_name": id, "parameters": parameters})
		}
		a.works("connect", nil)
		if got := len(a.tools()); got != 3 {
			t.Errorf("%d tools, want 3", got)
		}
		found, _ := a.call("mcp-adapter-discover-abilities", arguments{}).text(t)
		if !strings.Contains(found, "woocommerce/products-query") || strings.Contains(found, "woocommerce/product-delete") {
			t.Errorf("found %s", found)
		}
		a.refused(execute("woocommerce/product-delete", arguments{"id": s.info.Products[0]}), 403, denied)
		a.refused(a.call("mcp-adapter-get-ability-info", arguments{"ability_name": "woocommerce/product-delete"}), 403, denied)
		if text, isError := execute("woocommerce/products-query", arguments{}).text(t); isError || !strings.Contains(text, "Mug") {
			t.Errorf("%t, %s", isError, text)
		}
		if got, want := s.ran(), []string{"woocommerce/products-query"}; !slices.Equal(got, want) {
			t.Errorf("%q ran, want %q", got, want)
		}
		s.sent(t, sum(k.session, map[string]int{"tools/list 200": 1, "tools/call 200": 2, "tools/call 403": 2}))
	})
}

// TestAgents_RefuseResult: a refusal as a tool's result is no error for the client, but
// text that the model reads.
func TestAgents_RefuseResult(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, shopServer, strings.Replace(readOnly, "}", "\nrefuse result\n}", 1))
		a := k.start(t, s.door, s.as("admin"))
		a.works("connect", nil)
		text, isError := a.call(productDelete, arguments{"id": s.info.Products[0]}).text(t)
		if want := "Sorry, you are not allowed to use " + productDelete + ": the rules of this site do not allow it. Repeating the same call does not help."; !isError || text != want {
			t.Errorf("%t, %q, want an error, %q", isError, text, want)
		}
		a.runs(productsQuery, arguments{}, "Mug")
		if got, want := s.ran(), []string{"woocommerce/products-query"}; !slices.Equal(got, want) {
			t.Errorf("%q ran, want %q", got, want)
		}
		s.sent(t, sum(k.session, map[string]int{"tools/call 200": 2}))
	})
}

// TestAgents_RateLimit: a client over its limit is told so, does not try again by itself,
// and goes on when the limit lets it.
func TestAgents_RateLimit(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, shopServer, readOnly+"rate_limit 10/20s POST /woocommerce-agent/v1/mcp")
		a := k.start(t, s.door, s.as("admin"))
		a.works("connect", nil)
		refusals := 0
		for range 20 {
			if got := a.call(productsQuery, arguments{}); got.Error != nil {
				a.refused(got, 429, "rest_too_many_requests")
				refusals++
			}
		}
		if refusals == 0 {
			t.Fatal("nothing was refused")
		}
		calls := 20
		wait.For(t, 10*time.Second, "a call within the limit", func() bool {
			calls++
			got := a.call(productsQuery, arguments{})
			if got.Error != nil {
				refusals++
				time.Sleep(100 * time.Millisecond)
			}
			return got.Error == nil
		})
		s.sent(t, sum(k.session, map[string]int{"tools/call 200": calls - refusals, "tools/call 429": refusals}))
	})
}

// TestAgents_LoginOnly: a client without credentials is refused without being asked to sign in.
func TestAgents_LoginOnly(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, shopServer, readOnly+"login_only")
		a := k.start(t, s.door, map[string]string{})
		got := a.do("connect", nil)
		if k.late == "" {
			a.refused(got, 403, "rest_not_logged_in")
		} else if got := a.call(productsQuery, arguments{}); got.Error == nil || !strings.Contains(got.Error.Message, k.late) {
			t.Errorf("%s %+v, want an error with %q", got.Result, got.Error, k.late)
		}
		s.sent(t, k.turnedAway)
	})
}

// TestAgents_CannotDecide: where the platform does not say what an ability is, the client is
// told to come back, and does when it is asked to.
func TestAgents_CannotDecide(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		s := newShop(t, shopServer, readOnly)
		s.mute.Store(true)
		a := k.start(t, s.door, s.as("admin"))
		a.works("connect", nil)
		a.refused(a.call(productsQuery, arguments{}), 503, "rest_policy_unavailable")
		s.mute.Store(false)
		calls := 1
		wait.For(t, 10*time.Second, "a call that is decided", func() bool {
			calls++
			return a.call(productsQuery, arguments{}).Error == nil
		})
		s.sent(t, sum(k.session, map[string]int{"tools/call 503": calls - 1, "tools/call 200": 1}))
	})
}
