package scope_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestHolders: a scope stands for one of its credentials of each kind, and "*" for one that no scope names.
func TestHolders(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	policytest.Guarded(t, s, policies.Catalog[:],
		line("scope erp", "key * 0000000 a1b2c3d"), line("scope rest", "key *"), line("scope agent", "password 0C8F5B1E-7D1C-4A4E-9A57-2F6F0C1F9A11"),
		line("scope staff", "user somebody0 *"), line("scope others", "user *", "password *"))
	for name, want := range map[string][]caller.Credential{
		"erp":   {{Kind: caller.CredentialKey, Key: "0000000"}},
		"rest":  {{Kind: caller.CredentialKey, Key: "0000001"}},
		"agent": {{Kind: caller.CredentialPassword, Login: "somebody1", UUID: "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"}},
		"staff": {
			{Kind: caller.CredentialUser, Login: "somebody0"},
			{Kind: caller.CredentialPassword, Login: "somebody0", UUID: "00000000-0000-4000-8000-000000000000"},
		},
		"others": {
			{Kind: caller.CredentialPassword, Login: "somebody1", UUID: "00000000-0000-4000-8000-000000000000"},
			{Kind: caller.CredentialUser, Login: "somebody1"},
		},
		"none": nil,
	} {
		if got := s.Scopes.Holders(name); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestHolder_Prove: rules that name a scope admit its holder alone. What a rule asks of a user of whom nobody has said a role is not
// known.
func TestHolder_Prove(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, policies.Catalog[:],
		line("scope erp", "key a1b2c3d", "allow /wc/**"), line("scope old", "key 0000000", "allow /wc/**", "until 2020-01-01"),
		line("scope agent", "password 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11", "allow /acme/**"), line("scope short", "user maria", "allow PUT /*"), line("recommended off"),
		policy.Option{Name: "login_only"},
		line("allow scope erp,old /wc/v3/orders"), line("allow role editor /acme/v1/staff"), line("allow capability edit_posts /acme/v1/posts"), line("allow users /wc/v3/products"))
	user := caller.Caller{Kind: caller.User, NoRoles: true, NoCapabilities: true}
	holder, editor := caller.Caller{Kind: caller.KeyHolder}, caller.Caller{Kind: caller.User, Roles: []string{"editor"}}
	for _, tt := range []struct {
		scope           string
		who             caller.Caller
		never           bool
		route           string
		holds, unproved bool
		method          string // GET if it is empty
	}{
		{"erp", holder, false, "/wc/v3/orders", true, false, ""},
		{"erp", holder, true, "/wc/v3/orders", false, false, ""},
		{"erp", holder, true, "/wp/v2/posts", true, false, ""},
		{"", holder, true, "/wc/v3/orders", true, false, ""},
		{"", holder, false, "/wc/v3/products", true, false, ""},
		{"old", holder, true, "/wc/v3/orders", true, false, ""},
		{"short", user, false, "/*", false, false, "PUT"},
		{"agent", user, true, "/acme/v1/staff", false, true, ""},
		{"agent", user, false, "/acme/v1/staff", false, true, ""},
		{"agent", user, true, "/acme/v1/posts", false, true, ""},
		{"agent", user, false, "/acme/v1/else", true, false, ""},
		{"agent", user, true, "/acme/v1/else", false, false, ""},
		{"agent", user, true, "/wp/v2/posts", true, false, ""},
		{"agent", editor, false, "/acme/v1/staff", true, false, ""},
		{"agent", editor, true, "/acme/v1/posts", true, false, ""},
	} {
		q := review.Claim{Never: tt.never, Methods: []string{cmp.Or(tt.method, "GET")}, Routes: []string{tt.route}, Caller: tt.who}
		if tt.scope != "" {
			q.Credential = s.Scopes.Holders(tt.scope)[0]
		}
		p, err := review.Prove(c, q)
		if err != nil || p.Holds != tt.holds || tt.unproved != (len(p.Unproved) > 0) {
			t.Errorf("%+v: %+v, %v", tt, p, err)
		}
	}
}
