package dryrun_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

const scoped = `shop.example.com {
	restwarden wordpress {
		login_only
		scope erp {
			key a1b2c3d
			allow GET /wc/v3/orders /wc/v3/orders/*
		}
		scope agent {
			password 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11
			allow /wp/v2/pages /wp/v2/posts
		}
		scope both {
			key 1234567
			password 5f0c2f0e-3a55-4c5c-8f0e-6a1d7f3b9c22
			allow /wp/v2/pages
		}
		scope staff {
			user maria@example.com
			allow GET /wp/v2/posts
		}
		scope others {
			key *
			mode observe
		}
		allow role editor /wp/v2/pages
		allow scope erp GET /wc/v3/reports
	}
	reverse_proxy 127.0.0.1:1
}
http://shop.example.com {
	restwarden wordpress {
		scope agent {
			password 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11
		}
	}
	reverse_proxy 127.0.0.1:1
}
`

// TestRun_Scopes: the holder of a credential of a scope is bound by it, by every way to log in. What nobody has said of a user is not
// known, and only where it matters.
func TestRun_Scopes(t *testing.T) {
	t.Parallel()
	c := load(t, scoped)
	for _, tt := range []struct {
		as, line string
		answer   dryrun.Answer
		code     string
	}{
		{"scope:erp", "GET https://shop.example.com/wp-json/wc/v3/orders/5", dryrun.Pass, ""},
		{"scope:erp", "GET https://shop.example.com/wp-json/wc/v3/reports", dryrun.Refused, "rest_credential_scope"},
		{"scope:erp", "GET https://shop.example.com/wp-json/wp/v2/posts", dryrun.Refused, "incorrect_password"},
		{"scope:others", "GET https://shop.example.com/wp-json/wc/v3/reports", dryrun.Refused, "rest_forbidden"},
		{"scope:others", "GET https://shop.example.com/wp-json/wc/v3/products", dryrun.WouldRefuse, "rest_credential_scope"},
		{"scope:agent", "GET https://shop.example.com/wp-json/wp/v2/posts", dryrun.Pass, ""},
		{"scope:agent", "GET https://shop.example.com/wp-json/wp/v2/media", dryrun.Refused, "rest_credential_scope"},
		{"scope:agent", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Unknown, "rest_policy_unavailable"},
		{"scope:agent,role:editor", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Pass, ""},
		{"scope:agent,role:author", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Refused, "rest_forbidden"},
		{"scope:agent", "POST https://shop.example.com/xmlrpc.php", dryrun.Refused, "rest_credential_scope"},
		{"scope:agent", "GET http://shop.example.com/wp-json/wp/v2/posts", dryrun.Pass, ""}, // the platform takes no password by http
		{"scope:both", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Refused, "incorrect_password"},
		{"scope:both,role:editor", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Pass, ""},
		{"scope:staff", "GET https://shop.example.com/wp-json/wp/v2/posts", dryrun.Pass, ""},
		{"scope:staff,role:editor", "GET https://shop.example.com/wp-json/wp/v2/pages", dryrun.Refused, "rest_credential_scope"},
	} {
		result := run(t, c, tt.as, tt.line)
		code := ""
		if result.Decision != nil {
			code = result.Decision.Code
		}
		if result.Answer != tt.answer || code != tt.code || result.As != tt.as {
			t.Errorf("%s %s: %s %s as %s, want %s %s", tt.as, tt.line, result.Answer, code, result.As, tt.answer, tt.code)
		}
		if asks := slices.ContainsFunc(result.Missing, func(m string) bool { return strings.Contains(m, "scope:agent,role:NAME") }); asks != (tt.answer == dryrun.Unknown) {
			t.Errorf("%s %s: missing %q", tt.as, tt.line, result.Missing)
		}
	}
}

// TestRun_NoScope: a caller who cannot be is an error.
func TestRun_NoScope(t *testing.T) {
	t.Parallel()
	c := load(t, scoped)
	for as, want := range map[string]string{
		"scope:erpp":            `there is no scope "erpp" at this site: did you mean erp?`,
		"scope:erp,role:editor": "the scope erp is of shop keys, which have no role",
	} {
		r, err := dryrun.Build("", "https://shop.example.com/", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.As, err = dryrun.ParseAs(as); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context(), r); err == nil || err.Error() != want {
			t.Errorf("%s: %v", as, err)
		}
	}
}

func TestParseAs_Scope(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dryrun.As{
		"scope:erp":               {Kind: dryrun.OfScope, Scope: "erp"},
		"scope:agent,role:editor": {Kind: dryrun.Role, Name: "editor", Scope: "agent"},
		"scope:agent,cap:x":       {Kind: dryrun.Capability, Name: "x", Scope: "agent"},
	} {
		as, err := dryrun.ParseAs(text)
		if err != nil || as != want || as.String() != text {
			t.Errorf("%s: %+v, %q, %v", text, as, as.String(), err)
		}
	}
	for _, text := range []string{"scope", "scope:", "scope:a,key", "scope:a,anonymous", "scope:a,", "scope:a,scope:b", "scope:a,role:edtor"} {
		if as, err := dryrun.ParseAs(text); err == nil {
			t.Errorf("%s: %+v", text, as)
		}
	}
}

// TestChange_Scope: for a refusal by a scope the line is one of the scope, and helps. None is proposed by which the credential could
// widen its scope, nor where another rule refuses as well.
func TestChange_Scope(t *testing.T) {
	t.Parallel()
	c := load(t, scoped)
	for _, tt := range []struct{ as, line, want string }{
		{"scope:erp", "GET https://shop.example.com/wp-json/wc/v3/customers/5", "scope erp: allow GET /wc/v3/customers/:id: pass"},
		{"scope:erp", "DELETE https://shop.example.com/wp-json/wc/v3/coupons/5", "scope erp: allow DELETE /wc/v3/coupons/:id: pass"},
		{"scope:others", "GET https://shop.example.com/wp-json/wc/v3/products", "scope others: allow GET /wc/v3/products: pass"},
		{"scope:erp", "POST https://shop.example.com/wp-json/wc/v3/webhooks", ""},
		{"scope:agent", "POST https://shop.example.com/wp-json/wp/v2/users", ""},
		{"scope:staff,role:author", "GET https://shop.example.com/wp-json/wp/v2/pages", ""},
	} {
		method, address, _ := strings.Cut(tt.line, " ")
		r, err := dryrun.Build(method, address, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.As, err = dryrun.ParseAs(tt.as); err != nil {
			t.Fatal(err)
		}
		result, err := c.Run(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		change, err := c.Change(t.Context(), r, result)
		got := ""
		if change != nil {
			got = "scope " + change.Scope + ": " + change.Line + ": " + string(change.Answer)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s %s: %q, %v; want %q", tt.as, tt.line, got, err, tt.want)
		}
	}
}
