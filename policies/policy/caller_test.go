package policy_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// scopes is a policy that gives every credential that it is asked about the scope orders.
type scopes struct {
	policy.Scopes
	asked int
	err   error
}

func (*scopes) Names() []string { return []string{"orders"} }

func (s *scopes) Verified(context.Context, *policy.Request) ([]string, error) {
	s.asked++
	return []string{"orders"}, s.err
}

func (s *scopes) MayHold(context.Context, *policy.Request) ([]string, error) {
	s.asked++
	return []string{"orders"}, s.err
}

func (s *scopes) Configure(o policy.Option) error { return o.Bare() }

func (s *scopes) Provision(site *policy.Site, _ policy.Settings) error {
	site.Scopes = s
	return nil
}

// scoped returns a request of who answers, at a site with scopes that rules name or not.
func scoped(t *testing.T, body string, named bool, mode policy.Mode, s *scopes) *policy.Request {
	t.Helper()
	site := policytest.NewSite(t)
	configured := policy.NewConfigured(policy.Entry{Name: "scope", New: func() policy.Policy { return s }})
	configured.Settings.Mode = mode
	catalog := []policy.Entry{policy.ReadingEntry, configured.Entry}
	if _, err := policy.NewChain(catalog, policy.Entry{}, site, policy.Enforce, map[string]*policy.Configured{"scope": configured}); err != nil {
		t.Fatal(err)
	}
	if rule := policy.MustRule("scope orders", nil, "/**"); named {
		if err := rule.CheckNames(site); err != nil {
			t.Fatal(err)
		}
	}
	status := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[strings.Contains(body, "id")]
	return policytest.Request(t, site, asktest.Answering(status, body), "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
}

// TestRequest_Scopes: the scopes of a caller are found out once, where a rule names any, the scopes are in force, and the
// platform has accepted the credential. All that says who is calling says the same.
func TestRequest_Scopes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body  string
		named bool
		mode  policy.Mode
		has   bool // as who calls
		may   bool // as who may hold one
	}{
		"a user":                 {policytest.ClientBody, true, "", true, true},
		"no rule names a scope":  {policytest.ClientBody, false, "", false, false},
		"scopes that observe":    {policytest.ClientBody, true, policy.Observe, false, false},
		"a login that is nobody": {`{"code":"rest_not_logged_in"}`, true, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(scopes)
			r := scoped(t, tt.body, tt.named, tt.mode, s)
			if _, known := r.Known(); known {
				t.Error("a caller is known of whom nobody has asked")
			}
			who, _, err := r.Who(t.Context())
			if err != nil || (len(who.Scopes) > 0) != tt.has {
				t.Errorf("Who: %+v, %v", who, err)
			}
			if rights, err := r.Rights(t.Context()); err != nil || !slices.Equal(rights.Scopes, who.Scopes) {
				t.Errorf("Rights: %+v, %v", rights, err)
			}
			if known, ok := r.Known(); !ok || !slices.Equal(known.Scopes, who.Scopes) {
				t.Errorf("Known: %+v, %v", known, ok)
			}
			if asked := map[bool]int{true: 1}[tt.has]; s.asked != asked {
				t.Errorf("asked %d times, want %d", s.asked, asked)
			}
			if names, err := r.MayHold(t.Context()); err != nil || (len(names) > 0) != tt.may {
				t.Errorf("MayHold: %q, %v", names, err)
			}
		})
	}
}

// TestRequest_NoScopes: a site without the policy has none, whatever rules name.
func TestRequest_NoScopes(t *testing.T) {
	t.Parallel()
	site := policytest.NewSite(t)
	rule := policy.MustRule("scope orders", nil, "/**")
	if err := rule.CheckNames(site); err == nil {
		t.Error("a scope that nobody declares")
	}
	r := policytest.Request(t, site, asktest.Answering(200, policytest.ClientBody), "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
	if who, _, err := r.Who(t.Context()); err != nil || len(who.Scopes) > 0 {
		t.Errorf("%+v, %v", who, err)
	}
	if names, err := r.MayHold(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	site.Scopes = new(scopes) // and no chain that might only observe them
	if names, err := r.MayHold(t.Context()); err != nil || len(names) == 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// TestRequest_Undecided: where the platform or the scopes cannot say, there is no caller, and no scope.
func TestRequest_Undecided(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := scoped(t, policytest.ClientBody, true, "", &scopes{err: broken})
	if _, _, err := r.Who(t.Context()); !errors.Is(err, broken) {
		t.Errorf("Who: %v", err)
	}
	if _, err := r.Rights(t.Context()); !errors.Is(err, broken) {
		t.Errorf("Rights: %v", err)
	}
	if _, err := r.MayHold(t.Context()); !errors.Is(err, broken) {
		t.Errorf("MayHold: %v", err)
	}
	s := new(scopes)
	r = scoped(t, `{"code":"incorrect_password"}`, true, "", s)
	if _, answer, err := r.Who(t.Context()); err != nil || answer == nil || answer.Code() != "incorrect_password" || s.asked > 0 {
		t.Errorf("the platform's own refusal: %v, %v, asked %d times", answer, err, s.asked)
	}
	r = scoped(t, `{"id":0}`, true, "", s)
	if _, _, err := r.Who(t.Context()); err == nil || s.asked > 0 {
		t.Errorf("Who: %v, asked %d times", err, s.asked)
	}
	if _, err := r.Rights(t.Context()); err == nil || s.asked > 0 {
		t.Errorf("Rights: %v, asked %d times", err, s.asked)
	}
}

// TestRequest_Foreseen: what will be asked about the record of a request may be asked with its caller, but not for the part
// of a batch.
func TestRequest_Foreseen(t *testing.T) {
	t.Parallel()
	for _, part := range []bool{false, true} {
		site := policytest.NewSite(t)
		site.Foresee = func(context.Context, *policy.Request) *caller.Ahead { return nil }
		r := policytest.Request(t, site, asktest.Answering(200, policytest.ClientBody), "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
		of := r
		if part {
			of = r.Part(r.Call)
		}
		if _, _, err := of.Who(t.Context()); err != nil || (r.Foreseer != nil) == part {
			t.Errorf("part %v: %v, %v", part, r.Foreseer, err)
		}
	}
}
