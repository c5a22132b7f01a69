package gateway

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/typo"
)

// TestErrors_Unset: an environment variable that is not set leaves no argument, or an
// empty one, and the error asks for it.
func TestErrors_Unset(t *testing.T) {
	const hint = ": is an environment variable {$NAME} unset? at Caddyfile:3"
	for line, want := range map[string]string{
		`release {$RESTWARDEN_TEST_UNSET}`:                     "release takes exactly one argument" + hint,
		`prefix "{$RESTWARDEN_TEST_UNSET}"`:                    "prefix is empty" + hint,
		`body_limit {$RESTWARDEN_TEST_UNSET}`:                  "body_limit takes exactly one argument" + hint,
		`mode {$RESTWARDEN_TEST_UNSET}`:                        "mode takes exactly one argument" + hint,
		`credentials header {$RESTWARDEN_TEST_UNSET}`:          "credentials takes header <name>..., cookie <name>... or jetpack" + hint,
		`credentials cookie a "{$RESTWARDEN_TEST_UNSET}"`:      "credentials: argument 3 is empty" + hint,
		`allow {$RESTWARDEN_TEST_UNSET} /x`:                    "allow needs whom, then routes" + hint,
		`allow role {$RESTWARDEN_TEST_UNSET} GET /x`:           "allow role needs a name before methods and routes" + hint,
		`allow role {$RESTWARDEN_TEST_UNSET} /x`:               "allow role needs a name before methods and routes" + hint,
		`allow anyone {$RESTWARDEN_TEST_UNSET}`:                "allow: no route named" + hint,
		`deny {$RESTWARDEN_TEST_UNSET}`:                        "deny: no route named" + hint,
		`rate_limit {$RESTWARDEN_TEST_UNSET} /x`:               "rate_limit needs a rate such as 10/1m before its routes" + hint,
		`rate_limit 9/1m per {$RESTWARDEN_TEST_UNSET} /x`:      "rate_limit … per needs one of address, caller, key" + hint,
		`strip_query {$RESTWARDEN_TEST_UNSET} /x`:              "strip_query needs the name of a parameter before its routes" + hint,
		"signature {$RESTWARDEN_TEST_UNSET} {\nkey x\n}":       "signature needs a name before its block" + hint,
		"identity {\nttl 5s\n}\nbase {$RESTWARDEN_TEST_UNSET}": "base takes exactly one argument" + strings.Replace(hint, ":3", ":6", 1),
	} {
		if got := loadError(t, oneSite(line)); got != want {
			t.Errorf("%s:\ngot:  %s\nwant: %s", line, got, want)
		}
	}
	if got := loadError(t, map[string]string{"Caddyfile": ":8080 {\n\trestwarden {$RESTWARDEN_TEST_UNSET}\n}\n"}); got != "restwarden needs a platform, cms or wordpress: is an environment variable {$NAME} unset? at Caddyfile:2" {
		t.Error(got)
	}
	t.Setenv("RESTWARDEN_TEST_SET", "10.8.1")
	if got := loadError(t, oneSite("release {$RESTWARDEN_TEST_SET}\nprefix {$RESTWARDEN_TEST_UNSET:api}")); got != "" {
		t.Error(got)
	}
}

// TestErrors_Nearest: wherever a closed set of words is checked, the error says which of
// them the word may stand for.
func TestErrors_Nearest(t *testing.T) {
	for line, want := range map[string]string{
		"loginonly":                             "login_only",
		"ratelimit 9/1m /x":                     "rate_limit",
		"indentity":                             "identity",
		"orders_type":                           "order_type",
		"mode enforced":                         "enforce",
		"release autom":                         "auto",
		"credentials headers X-A":               "header",
		"credentials jet-pack":                  "jetpack",
		"identity {\nmax-in-flight 9\n}":        "max_in_flight",
		"allow user /x":                         "users",
		"allow roles editor /x":                 "role",
		"allow anyone Post /x":                  "POST",
		"recommended of":                        "on or off",
		"no_store of":                           "off",
		"order_type {\nmod observe\n}":          "mode",
		"order_type {\nmode observed\n}":        "observe",
		"order_type {\non-error pass\n}":        "on_error",
		"order_type {\non_error refused\n}":     "refuse",
		"order_type {\ncredentials a:b\n}":      "credential",
		"redact author":                         "authors",
		"redact {\nmod observe\n}":              "mode",
		"rate_limit 9/1m per adddress /x":       "address",
		"session_cookies {\ndomian x\n}":        "domain",
		"abilities {\nalow x/y\n}":              "allow",
		"checkout_total {\ndiffer\n}":           "differs",
		"signature s {\nscheme woo-commerce\n}": "woocommerce",
		"signature s {\nkeys x\n}":              "key",
		"signature s {\nheader signatur X\n}":   "signature",
	} {
		got := loadError(t, oneSite(line))
		if !strings.Contains(got, "did you mean "+want+"? at Caddyfile:") {
			t.Errorf("%s: %s", line, got)
		}
	}
	for lines, want := range map[string]string{
		"stor memory":                     "store",
		"store memroy":                    "memory",
		"store redis a:1 {\npasword x\n}": "password",
		"store redis a:1 {\nsentinel m {\nuser x\n}\n}": "username",
		"store redis a:1 {\ntls {\nservername x\n}\n}":  "server_name",
	} {
		got := loadError(t, map[string]string{"Caddyfile": "{\nrestwarden {\n" + lines + "\n}\n}\n:8080 {\n}\n"})
		if !strings.Contains(got, "did you mean "+want+"? at Caddyfile:") {
			t.Errorf("%s: %s", lines, got)
		}
	}
	for _, word := range directiveWords() {
		if hint := typo.Words(strings.ReplaceAll(word, "_", "-"), directiveWords()...); len(hint) != 1 || hint[0] != word {
			t.Errorf("%s is nearest to %q", word, hint)
		}
	}
}
