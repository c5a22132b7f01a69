package caddymodule

import (
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestConfirmations_OfTwoDirectives: one directive of a site confirms and another does not.
func TestConfirmations_OfTwoDirectives(t *testing.T) {
	p := newToolServer(t)
	g := administered(t, "", caddyrun.Site{Body: "\thandle /shop/* {\n\t\trestwarden wordpress\n\t" + p.proxied() + "\n\t}\n" +
		"\thandle {\n\t\trestwarden wordpress {\n\t\t\tabilities {\n\t\t\t\tallow shop/*\n\t\t\t\tconfirm shop/query\n\t\t\t}\n\t\t}\n\t" + p.proxied() + "\n\t}\n"})
	g.do("POST "+agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop-query","arguments":{}}}`, asAdmin, jsonBody).
		want(t, 403, "rest_confirmation_required")
	g.admin("GET", "confirmations", "", 200, `"ability":"shop/query"`)
}
