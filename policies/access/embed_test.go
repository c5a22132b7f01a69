package access

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/redact"
)

// embeddedAnswer is what the platform answers to posts?_embed, shortened.
const embeddedAnswer = `[{"id":1,"title":"\u00fc","_links":{"self":[{"href":"http://h/wp-json/wp/v2/posts/1"}],` +
	`"author":[{"embeddable":true,"href":"http://h/wp-json/wp/v2/users/4"}],` +
	`"replies":[{"embeddable":true,"href":"http://h/wp-json/wp/v2/comments?post=1"}],` +
	`"wp:term":[{"href":"http://h/?rest_route=%2Fwp%2Fv2%2Fcategories&post=1"},{"href":"http://h/wp-json/wp/v2/tags?post=1"}]},` +
	`"_embedded":{"author":[{"id":4}],"replies":[[{"id":9}]],"wp:term":[[{"id":2}],[]],"x":[{"id":5}]}}]`

// TestAccess_Embedded: an object that the platform loads for _embed passes only if the
// caller may read it.
func TestAccess_Embedded(t *testing.T) {
	admin := []string{"Authorization: Basic eDp5"}
	posts, tags := policy.MustRule("anyone", nil, "/wp/v2/posts/**"), policy.MustRule("anyone", nil, "/wp/v2/tags")
	comments := policy.MustRule("users", nil, "/wp/v2/comments/**")
	closed := policy.Rule{Deny: true, Routes: []string{"/wp/v2/categories/**"}}
	for name, test := range map[string]struct {
		access  Access
		headers []string
		target  string
		need    policy.Rewrite
		gone    string // ids that are missing afterwards
		refused int    // number of objects
	}{
		"login_only":            {Access{LoginOnly: true, Rules: []policy.Rule{posts, tags}}, nil, "/wp-json/wp/v2/posts?_embed", policy.RewriteBody, "4 9 2 5", 4},
		"spelled oddly":         {Access{LoginOnly: true, Rules: []policy.Rule{posts}}, nil, "/?rest_route=/wp/v2/posts&%20_embed[]=author", policy.RewriteBody, "4 9 2 5", 5},
		"login_only, as a user": {Access{LoginOnly: true, Rules: []policy.Rule{posts}}, admin, "/wp-json/wp/v2/posts?_embed", policy.RewriteNothing, "", 0},
		"a rule for users":      {Access{Rules: []policy.Rule{comments}}, nil, "/wp-json/wp/v2/posts?_embed", policy.RewriteBody, "9 5", 2},
		"a rule for users, one": {Access{Rules: []policy.Rule{comments}}, admin, "/wp-json/wp/v2/posts?_embed", policy.RewriteBody, "5", 1},
		"denied to all":         {Access{Rules: []policy.Rule{closed}}, admin, "/wp-json/wp/v2/posts?_embed", policy.RewriteBody, "2 5", 2},
		"no rules":              {Access{}, nil, "/wp-json/wp/v2/posts?_embed", policy.RewriteNothing, "", 0},
		"nothing embedded":      {Access{LoginOnly: true, Rules: []policy.Rule{posts}}, nil, "/wp-json/wp/v2/posts", policy.RewriteNothing, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			if err := policytest.ProvisionError(s, &test.access); err != nil {
				t.Fatal(err)
			}
			r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", test.target, "", test.headers...)
			if need := test.access.Rewrites(r); need != test.need || need == policy.RewriteNothing {
				if need != test.need {
					t.Error("needs", need)
				}
				return
			}
			for _, wrapped := range []string{"%", `{"body":%,"status":200,"headers":{}}`, "/**/cb(%)"} {
				a := asktest.JSON(http.StatusOK, strings.Replace(wrapped, "%", embeddedAnswer, 1))
				if err := test.access.Rewrite(r, a); err != nil {
					t.Fatal(err)
				}
				for _, id := range []string{"4", "9", "2", "5", "1"} {
					has := strings.Contains(string(a.Body), `"id":`+id)
					if want := !strings.Contains(" "+test.gone+" ", " "+id+" "); has != want {
						t.Errorf("id %s is there: %t\n%s", id, has, a.Body)
					}
				}
				if n := strings.Count(string(a.Body), "rest_forbidden"); n != test.refused {
					t.Errorf("%d refused: %s", n, a.Body)
				}
			}
			for _, odd := range []string{"x", `[{"_embedded":7}]`, `[{"_embedded":{"author":7}}]`, "<html>"} {
				if err := test.access.Rewrite(r, asktest.JSON(http.StatusOK, odd)); err == nil {
					t.Errorf("%s goes on", odd)
				}
			}
		})
	}
}

// TestRedact_Embedded: an embedded object is redacted as the answer of its own route, and
// by all lines if that route is unknown.
func TestRedact_Embedded(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(redact.Redact)
	policytest.Configure(t, p, policytest.Line("redact /wp/v2/users/* id"), policytest.Line("redact /wp/v2/comments id"))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", "/wp-json/wp/v2/posts?_embed", "", "Authorization: Basic eDp5")
	if p.Rewrites(r) != policy.RewriteBody {
		t.Fatal("the answer is not looked at")
	}
	a := asktest.JSON(http.StatusOK, embeddedAnswer)
	if err := p.Rewrite(r, a); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"1": true, "2": true, "4": false, "9": false, "5": false} {
		if has := strings.Contains(string(a.Body), `"id":`+id); has != want {
			t.Errorf("id %s is there: %t\n%s", id, has, a.Body)
		}
	}
}

// FuzzEmbedded: an answer is one JSON value or an error, and a second pass changes
// nothing.
func FuzzEmbedded(f *testing.F) {
	for _, seed := range []string{embeddedAnswer, `{"body":` + embeddedAnswer + `}`, "/**/cb(" + embeddedAnswer + ")", "[]", "{}", `{"_embedded":{"x":[{}]}}`, "7", "<html>"} {
		f.Add(seed)
	}
	s := policytest.NewSite(f)
	access := &Access{LoginOnly: true, Rules: []policy.Rule{policy.MustRule("anyone", nil, "/wp/v2/posts/**")}}
	if err := policytest.ProvisionError(s, access); err != nil {
		f.Fatal(err)
	}
	r := policytest.Request(f, s, nil, "GET", "/wp-json/wp/v2/posts?_embed", "")
	f.Fuzz(func(t *testing.T, body string) {
		a := asktest.JSON(http.StatusOK, body)
		if access.Rewrite(r, a) != nil || len(a.Body) == 0 {
			return
		}
		once := string(a.Body)
		if script := strings.HasPrefix(once, "/**/"); !script && !json.Valid(a.Body) && utf8.Valid(a.Body) {
			t.Fatalf("%q became %q", body, once)
		}
		if err := access.Rewrite(r, a); err != nil || string(a.Body) != once {
			t.Fatalf("%q became %q, then %q, %v", body, once, a.Body, err)
		}
	})
}
