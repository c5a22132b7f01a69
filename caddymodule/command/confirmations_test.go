package command_test

import "testing"

// TestExplain_ConfirmPage: a dry run has no confirmations, and its page is like any other.
func TestExplain_ConfirmPage(t *testing.T) {
	t.Parallel()
	const caddyfile = "shop.example.com {\n\trestwarden wordpress {\n\t\tabilities {\n\t\t\tconfirm shop/delete\n\t\t}\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	out, problems, status := explain(t, caddyfile, "https://shop.example.com/.well-known/restwarden/confirm/AAAA")
	if status != 0 {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}
