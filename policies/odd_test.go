package policies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// chainOf is a chain of the lines of a directive. Line n stands at "Caddyfile:n", from 1.
func chainOf(tb testing.TB, lines ...string) *policy.Chain {
	tb.Helper()
	policies, mode := map[string]*policy.Configured{}, policy.Mode("")
	for i, text := range lines {
		words := strings.Fields(text)
		if words[0] == "mode" {
			mode = policy.Mode(words[1])
			continue
		}
		o := policy.Option{Name: words[0], Args: words[1:], Pos: fmt.Sprintf("Caddyfile:%d", i+1)}
		switch {
		case words[len(words)-1] == "observe":
			o.Args, o.Block = nil, []policy.Option{{Name: "mode", Args: []string{"observe"}, Pos: o.Pos}}
		case words[0] == "signature":
			o.Block = []policy.Option{{Name: "key", Args: []string{"secret"}, Pos: o.Pos}}
		}
		all := []policy.Option{o}
		if access.IsPluginLine(o) {
			var err error
			if all, err = access.ExpandPlugins(o, policytest.NewSite(tb).Platform); err != nil {
				tb.Fatal(err)
			}
		}
		for _, o := range all {
			entry, known := Lookup(o.Name)
			if !known {
				continue // credentials are no policy
			}
			if policies[entry.Name] == nil {
				policies[entry.Name] = policy.NewConfigured(entry)
			}
			if err := policies[entry.Name].Configure(o); err != nil {
				tb.Fatal(err)
			}
		}
	}
	c, err := NewChain(policytest.NewSite(tb), mode, policies)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// oddRules are fixtures of W04 and W05, with near misses: lines, separated by "; ".
var oddRules = map[string]string{
	// W04: earlier rules take all calls of a rule.
	"deny /a/**; allow users /a/b":       "W04:2",
	"deny /a/b; allow users /A/B":        "W04:2",
	"deny /a/*; allow users /a/:id":      "W04:2",
	"deny /a/:x; allow users /a/*":       "W04:2",
	"deny /a/* as 404; allow users /a/b": "W04:2",
	"deny GET /a; allow users HEAD /a":   "W04:2",
	"deny GET,POST /a; deny PUT,PATCH,DELETE,OPTIONS /a; allow users GET,DELETE /a": "W04:3",
	"deny /a; deny /a/*; deny /a/*/**; allow users /a/**":                           "W04:4",
	"deny /a /a/* /a/*/**; allow users /a/**":                                       "W04:2",
	"deny /a; deny /a/*/**; allow users /a/**; deny /x":                             "W04:3",
	"deny /a/b; deny /c; allow users /c /a/b":                                       "W04:3",
	"deny GET /a/**; deny POST /a/b; allow users GET,POST /a/b":                     "W04:3",
	"deny /**; deny /": "W04:2",
	"deny /*/b; deny /a/**; allow users /a/b /c/b":                 "W04:3",
	"deny /wc/store/cart; allow users /wc/store/v1/cart":           "W04:2",
	"deny /wc/store/v1/*; deny /wc/store; allow users /wc/store/*": "W04:3",
	"allow users /wp/v2/**; allow anyone /wp/v2/users":             "W04:2", // the guard of the list gives way to no rule that does not decide
	"signature s; allow signed s /a/**; allow signed s /a/b":       "W04:3",
	"deny /a/**; deny /a/b; deny /a/c":                             "W04:2 W04:3",
	"login_only; allow anyone POST /a; allow users POST /a":        "W04:3",

	// Near misses of W04.
	"deny /a/b; allow users /a/**":                                                      "",
	"deny /a/*; allow users /a/**":                                                      "",
	"deny /a/**; allow users /b/**":                                                     "",
	"deny /a/*; deny /a/*/**; allow users /a/**":                                        "", // /a itself
	"deny HEAD /a; allow users GET /a":                                                  "",
	"deny GET /a; allow users /a":                                                       "",
	"deny GET,POST,PUT,PATCH,DELETE,OPTIONS /a; allow users /a":                         "", // PROPFIND
	"deny GET /a/**; deny POST /a/b; allow users GET,POST /a/*":                         "",
	"deny /a/b; deny /a/c; allow users /a/*":                                            "",
	"deny /a/*/c; allow users /a/b/:c":                                                  "",
	"deny /*/b; deny /a/*; allow users /*/*":                                            "",
	"deny /aa; allow users /a":                                                          "",
	"deny /a/b/*; allow users /a/b":                                                     "",
	"deny /; allow users /**":                                                           "",
	"deny /wc/v1/cart; allow users /wc/store/v1/cart":                                   "",
	"allow users /wp/v2/users; deny /wp/v2/users/**":                                    "",
	"allow users GET /wp/v2/users; allow users POST /wp/v2/users":                       "",
	"rate_limit 5/1m /a/**; rate_limit 10/1h /a/b":                                      "", // both count
	"deny /a/b /a/c; allow users /a/*; deny /a/**; login_only; allow anyone /b; deny /": "",

	// W05: the rules behind an allow admit the same callers on all of its calls.
	"login_only; allow users /wp/v2/posts":                               "W05:2",
	"login_only; allow users GET,POST /a/**":                             "W05:2",
	"allow anyone /a/b":                                                  "W05:1",
	"allow anyone GET /wp/v2/**":                                         "W05:1", // the guards of users stay
	"login_only; allow anyone GET /a/b; allow anyone /a/**":              "W05:2",
	"allow role editor /a/b; allow role editor /a/**":                    "W05:1",
	"allow role editor,author /a/b; allow role author,editor /a/**":      "W05:1",
	"allow capability x /a/:id; allow capability x /a/:id/**":            "W05:1",
	"signature s; allow signed s /a/b; allow signed s /a/**":             "W05:2",
	"login_only; allow users /a/*; allow users /a/b/**; allow users /c":  "W05:2 W05:3 W05:4",
	"deny POST /a; allow anyone /a":                                      "W05:2", // but for POST, which is denied
	"login_only; allow users /*/troubleshooting/**; recommended off":     "W05:2",
	"login_only; allow users /wp/v2/**":                                  "W05:2",
	"login_only; allow users POST /a; deny GET /a/** as 404":             "W05:2",
	"allow users GET /a; allow users POST /a; allow users /a/**":         "W05:1 W05:2",
	"login_only; allow users /a/b; allow users GET /a/*; deny POST /a/c": "W05:2 W05:3",

	// Near misses of W05.
	"login_only; allow users /wp/v2/users":                                  "", // in place of the guard
	"login_only; allow users /wp/v2/users/:id":                              "",
	"allow users /wp/v2/users":                                              "",
	"allow anyone /wp/v2/users":                                             "",
	"allow anyone /wp/v2/users/*":                                           "",
	"allow anyone GET /batch/v1":                                            "",
	"login_only; allow anyone /a":                                           "",
	"login_only; allow role editor /a":                                      "",
	"login_only; allow capability read /a":                                  "",
	"login_only; allow users /a/b; deny /a/**":                              "",
	"login_only; allow users /a/:id":                                        "", // the parameter id is protected
	"allow anyone /a/:id; allow anyone /a/**; login_only":                   "",
	"allow users /a":                                                        "",
	"allow anyone /a; deny /a/**":                                           "",
	"allow anyone /a/b; deny POST /a/*":                                     "",
	"login_only; allow users GET /a; deny GET /a/** as 404":                 "",
	"allow role editor /a/b; allow role editor,author /a/**":                "",
	"allow role editor /a/b; allow capability editor /a/**":                 "",
	"allow users /a/b; allow role editor /a/**":                             "",
	"login_only; allow users /a; allow anyone /**; deny /":                  "W04:4 W16:3",
	"deny /a; login_only; allow anyone /**":                                 "W16:3",
	"signature s; allow signed s POST /cookie/v1/store-auth":                "",
	"signature s; signature t; allow signed s /a/b; allow signed s,t /a/**": "",
	"login_only; allow users /x/v1/upload-logo":                             "", // in place of a built-in deny
	"login_only; deny /a":                                                   "", // no allow
}

func TestOdd_Rules(t *testing.T) {
	for lines, want := range oddRules {
		t.Run(lines, func(t *testing.T) {
			odd := review.OddIn(chainOf(t, strings.Split(lines, "; ")...))
			if got := policytest.Codes(odd); got != want {
				t.Errorf("got %q, want %q: %+v", got, want, odd)
			}
		})
	}
}

// TestOdd_OtherLines are W06, W07 and W11.
func TestOdd_OtherLines(t *testing.T) {
	for lines, want := range map[string]string{
		"deny /wp-admin/**":                                  "W06:1",
		"deny /wp-content/uploads/**":                        "W06:1",
		"deny /WP-Includes/*":                                "W06:1",
		"deny /xmlrpc.php":                                   "W06:1",
		"deny /a/b /wp-login.php":                            "W06:1",
		"deny /blog/wp-login.php/**":                         "W06:1",
		"deny /cms-admin/**":                                 "W06:1",
		"rate_limit 5/1m POST /wp-login.php":                 "W06:1",
		"strip_query lang /wp-admin/admin-ajax.php":          "W06:1",
		"redact /wp-content/** secret":                       "W06:1",
		"deny /wp-admin /wp-includes; deny /wp-cron":         "W06:1 W06:1 W06:2", //nolint:dupword // two routes of one line
		"signature s":                                        "W07:1",
		"signature s; signature t; allow signed t POST /a/b": "W07:1",
		"mode observe":                                       "W11:",
		"access observe":                                     "W11:1",
		"mode observe; access observe; signature s":          "W07:3 W11: W11:2",

		"deny /wp-abilities/v1/** /wp-site-health/v1/** /wp-block-editor/v1/**":                                  "",
		"deny /a/wp-admin /wp/v2/wp-content":                                                                     "",
		"deny /php/v1/** /a/v1/file.phps /a/:file.php /wp-admin-tools/v1/**":                                     "",
		"rate_limit 5/1m POST /wp/v2/posts; strip_query lang /wp/v2/**; redact /wp/v2/** secret; redact authors": "",
		"signature s; allow signed s POST /a":                                                                    "",
		"signature s; signature t; allow signed s,t POST /a":                                                     "",
		"mode enforce; login_only":                                                                               "",
	} {
		t.Run(lines, func(t *testing.T) {
			odd := review.OddIn(chainOf(t, strings.Split(lines, "; ")...))
			if got := policytest.Codes(odd); got != want {
				t.Errorf("got %q, want %q: %+v", got, want, odd)
			}
			for _, o := range odd {
				if o.Note != (o.Code == "W11") {
					t.Errorf("%+v", o)
				}
			}
		})
	}
}

// TestOdd_Sentences: each finding is one sentence that says what to do.
func TestOdd_Sentences(t *testing.T) {
	odd := review.OddIn(chainOf(t, "login_only", "deny GET /a/**", "deny POST /a/b", "allow users GET,POST /a/b", "allow users /c", "deny /x.php", "signature s", "mode observe"))
	want := []string{
		"allow users GET,POST /a/b never decides, since deny GET /a/** (Caddyfile:2) and deny POST /a/b (Caddyfile:3) together before it take all of its calls: remove it, or move it up",
		"allow users /c changes nothing, since without it the same callers would pass by login_only: remove it",
		"deny /x.php names /x.php, which can be no REST route, since x.php is a script: name a route as the REST index has it, without the prefix, or remove it",
		"No rule names the signature s, so that it guards nothing: write a rule allow signed s for its route, or remove it",
		"mode observe is in force, so that refusals are counted and logged, but nothing is refused: set mode enforce once the log shows no good call among them",
	}
	if len(odd) != len(want) {
		t.Fatalf("%+v", odd)
	}
	for i, o := range odd {
		if got := o.Text + ": " + o.Do; got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}
