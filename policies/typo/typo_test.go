package typo_test

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/typo"
)

var options = []string{"login_only", "allow", "deny", "mode", "release", "rate_limit", "off", "on", "timeout", "GET", "order_type"}

func TestWords(t *testing.T) {
	for word, want := range map[string]string{
		"login-only":             "login_only",
		"LoginOnly":              "login_only",
		"login_oly":              "login_only",
		"alow":                   "allow",
		"realease":               "release",
		"get":                    "GET",
		"of":                     "off on",
		"time":                   "timeout",
		"rate":                   "rate_limit",
		"odrer_tpye":             "order_type",
		"firewall":               "",
		"ti":                     "",
		"":                       "",
		"-":                      "",
		"ü":                      "",
		strings.Repeat("on", 99): "",
	} {
		if got := strings.Join(typo.Words(word, options...), " "); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := typo.Words("x"); got != nil {
		t.Errorf("out of no words: %q", got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ word, words, want string }{
		{"observe", "enforce observe", ""},
		{"enforced", "enforce observe", `"enforced" is neither enforce nor observe: did you mean enforce?`},
		{"report", "enforce observe", `"report" is neither enforce nor observe`},
		{"calller", "address caller key", `"calller" is not one of address, caller, key: did you mean caller?`},
		{"", "address caller key", `"" is not one of address, caller, key`},
	} {
		err := typo.Check(c.word, strings.Fields(c.words)...)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: got %v, want %q", c.word, err, c.want)
		}
	}
}
