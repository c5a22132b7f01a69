package caller_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
)

func claimedLogin(tb testing.TB, authorization, cookie string) string {
	tb.Helper()
	p, _ := platforms.ByName("wordpress")
	w := &caller.Whole{Site: caller.NewSite(p, caller.Own{}), HTTP: &http.Request{Header: http.Header{}}}
	if authorization != "" {
		w.HTTP.Header.Set("Authorization", authorization)
	}
	if cookie != "" {
		w.HTTP.Header.Set("Cookie", cookie)
	}
	return w.ClaimedLogin()
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func TestClaimedLogin(t *testing.T) {
	for name, test := range map[string]struct{ authorization, cookie, want string }{
		"password":            {basic("agent@example.com", "s3cret"), "", "agent@example.com"},
		"cookie":              {"", "a=b; wordpress_logged_in_abc=ann%7C1800000000%7Ctoken%7Cmac; c=d", "ann"},
		"both, the same":      {basic("ann", "s3cret"), "wordpress_logged_in_abc=ann%7C1%7Ct%7Cm", "ann"},
		"both, not the same":  {basic("bob", "s3cret"), "wordpress_logged_in_abc=ann%7C1%7Ct%7Cm", ""},
		"a key of the shop":   {basic("ck_0123", "cs_4567"), "", ""},
		"a token":             {"Bearer s3cret", "", ""},
		"no password":         {"Basic " + base64.StdEncoding.EncodeToString([]byte("s3cret")), "", ""},
		"no login":            {"", "wordpress_logged_in_abc=s3cret", ""},
		"a test":              {"", "wordpress_test_cookie=WP|Cookie", ""},
		"a line":              {basic("ann\nroot", "x"), "", ""},
		"not UTF-8":           {basic("ann\xff", "x"), "", ""},
		"too long":            {basic(strings.Repeat("a", 300), "x"), "", ""},
		"nobody":              {"", "", ""},
		"letters of all kind": {basic("Zoë", "x"), "", "Zoë"},
	} {
		if got := claimedLogin(t, test.authorization, test.cookie); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// FuzzClaimedLogin: whatever is sent, what is logged is short, one line, and never what stands
// behind the name.
func FuzzClaimedLogin(f *testing.F) {
	f.Add("ann", "wordpress_logged_in_abc=ann%7C1")
	f.Add("ck_1", "wordpress_sec_x=%7C")
	f.Fuzz(func(t *testing.T, name, cookie string) {
		got := claimedLogin(t, basic(name, "s3cret-7f3a"), cookie)
		if len(got) > 240 || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x00") || strings.Contains(got, "s3cret-7f3a") && !strings.Contains(name+cookie, "s3cret") {
			t.Errorf("%q", got)
		}
	})
}
