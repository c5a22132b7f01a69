package policies

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestWhy_BuiltIn: a refusal by a built-in rule does not read as if the owner had allowed it.
func TestWhy_BuiltIn(t *testing.T) {
	s := policytest.NewSite(t)
	c, err := NewChain(s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Judge(t.Context(), policytest.Request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/users", ""))
	if d.Outcome != policy.Refuse || !strings.HasPrefix(d.Verdict.Rule, "built-in:") || !strings.HasPrefix(d.Why(), "A built-in rule ") {
		t.Errorf("%+v: %s", d.Verdict, d.Why())
	}
}

// TestWhy_Semicolon: a query that some sites' PHP splits at ";" is not called too long.
func TestWhy_Semicolon(t *testing.T) {
	s := policytest.NewSite(t)
	c, err := NewChain(s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Judge(t.Context(), policytest.Request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/posts?a=1;_method=DELETE", ""))
	if d.Outcome != policy.Refuse || d.Verdict.Rule != "variables" || !strings.Contains(d.Why(), "semicolon") {
		t.Errorf("%+v: %s", d.Verdict, d.Why())
	}
}
