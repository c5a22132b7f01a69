package scope_test

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/scope"
)

// mixed is a batch of which the scope batches allows the first part alone.
const mixed = `{"update":[{"id":5,"status":"completed"}],"delete":[7]}`

// batches is a scope for some parts of batches.
func batches(block ...string) policy.Option {
	return line("scope erp", append(block, "key a1b2c3d", "allow POST /wc/v3/orders/batch", "allow PUT /wc/v3/orders/*")...)
}

// TestScope_BatchBesideObserved: that a scope which only observes would refuse the batch itself hides no part of it from
// another one. A cookie names its user without proof.
func TestScope_BatchBesideObserved(t *testing.T) {
	t.Parallel()
	watched := line("scope watched", "user paul", "mode observe", "allow /wp/v2/posts")
	const paul = "Cookie: wordpress_logged_in_abc=paul%7C1%7Cx%7Cy"
	for body, want := range map[string]int{mixed: 403, `{"update":[{"id":5}]}`: -403} {
		d := judge(t, judged{"POST", "/wp-json/wc/v3/orders/batch", body, []string{basic(key), paul, policytest.JSONType}}, nil, watched, batches())
		if status(d) != want {
			t.Errorf("%s: %d, want %d: %+v", body, status(d), want, d.Verdict)
		}
	}
}

// TestScope_BatchUndecided: a part that passes undecided, since nobody can count it, takes no other part along.
func TestScope_BatchUndecided(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{mixed: 403, `{"update":[{"id":5},{"id":6}]}`: 0} {
		s := policytest.NewSite(t)
		s.Store = fallback{s.Store}
		c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, batches("rate 4/1h"), line("scope", "on_error pass"))
		r := policytest.Request(t, s, &asktest.Platform{Answer: shop}, http.MethodPost, "/wp-json/wc/v3/orders/batch", body, basic(key), policytest.JSONType)
		d := c.Judge(t.Context(), r)
		if status(d) != want || (d.Err == nil) != (want == 403) {
			t.Errorf("%s: %d, want %d: %+v", body, status(d), want, d)
		}
	}
}
