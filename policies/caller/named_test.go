package caller

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
)

const usedUUID = "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"

// TestPassword: the platform names the password of Authorization alone, or none.
func TestPassword(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		uuid   string
		fails  bool
	}{
		"a password":          {200, `{"uuid":"` + usedUUID + `"}`, usedUUID, false},
		"none":                {404, `{"code":"rest_no_authenticated_app_password","message":"","data":{"status":404}}`, "", false},
		"a wrong one":         {401, `{"code":"incorrect_password","message":"","data":{"status":401}}`, "", false},
		"nobody":              {401, `{"code":"rest_not_logged_in","message":"","data":{"status":401}}`, "", false},
		"a plugin's word":     {401, `{"code":"login_closed","message":"","data":{"status":401}}`, "", true},
		"no such route":       {404, `{"code":"rest_no_route","message":"","data":{"status":404}}`, "", true},
		"a uuid that is none": {200, `{"uuid":"1"}`, "", true},
		"no uuid":             {200, `[]`, "", true},
		"a server's error":    {502, `bad`, "", true},
	} {
		s := newSite(t)
		backend := asktest.Answering(tt.status, tt.body)
		w := request(t, s, backend, http.MethodGet, "/wp-json/wc/v3/orders", "", basicAuth, loginLine, nonceLine)
		uuid, err := w.Password(t.Context())
		if uuid != tt.uuid || (err != nil) != tt.fails {
			t.Errorf("%s: %q, %v", name, uuid, err)
		}
	}
}

// TestByPassword: whom Authorization names is asked for by Authorization alone.
func TestByPassword(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, headers := range [][]string{{basicAuth}, {basicAuth, loginLine, nonceLine}, {basicAuth, "X-Mcp-Api-Key: a:b"}} {
		backend := asktest.Answering(200, `{"id":7,"username":"maria","roles":[],"capabilities":{}}`)
		w := request(t, s, backend, http.MethodGet, "/wp-json/wp/v2/posts", "", headers...)
		who, answer, err := w.ByPassword(t.Context())
		if who.Login != "maria" || answer != nil || err != nil {
			t.Errorf("%q: %+v, %v, %v", headers, who, answer, err)
		}
		for _, q := range backend.Questions() {
			if q.Header.Get("Cookie")+q.Header.Get("X-Wp-Nonce")+q.Header.Get("X-Mcp-Api-Key") != "" || q.Header.Get("Authorization") == "" {
				t.Errorf("%q: the question has %v", headers, q.Header)
			}
		}
		if _, known := w.Known(); known != (len(headers) == 1) {
			t.Errorf("%q: the caller of the request is known: %v", headers, known)
		}
	}
}

// TestByPassword_Refused: a refusal by another word than the platform's own may be one of somebody whom it knows, as where a site
// shows users to nobody. Nobody can say whose the log-in is.
func TestByPassword_Refused(t *testing.T) {
	t.Parallel()
	for code, fails := range map[string]bool{
		"rest_not_logged_in": false, "incorrect_password": false, "invalid_username": false, "rest_user_cannot_view": true, "locked_out": true,
	} {
		backend := asktest.Answering(401, `{"code":"`+code+`","message":"","data":{"status":401}}`)
		who, _, err := request(t, newSite(t), backend, http.MethodGet, "/wp-json/wp/v2/posts", "", basicAuth).ByPassword(t.Context())
		if who.Kind != Anonymous || (err != nil) != fails {
			t.Errorf("%s: %+v, %v", code, who, err)
		}
	}
}

// TestByToken: whom a token names is asked for without the login cookie beside it, which the platform may take instead.
func TestByToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, headers := range [][]string{{"Authorization: Bearer x"}, {"Authorization: Bearer x", loginLine, nonceLine}, {"Authorization: Bearer x", loginLine}} {
		backend := asktest.Answering(200, `{"id":7,"username":"maria","roles":[],"capabilities":{}}`)
		w := request(t, s, backend, http.MethodGet, "/wp-json/wp/v2/posts", "", headers...)
		if who, answer, err := w.ByToken(t.Context()); who.Login != "maria" || answer != nil || err != nil {
			t.Errorf("%q: %+v, %v, %v", headers, who, answer, err)
		}
		for _, q := range backend.Questions() {
			if q.Header.Get("Cookie")+q.Header.Get("X-Wp-Nonce") != "" || q.Header.Get("Authorization") == "" {
				t.Errorf("%q: the question has %v", headers, q.Header)
			}
		}
		if _, known := w.Known(); known != (len(headers) == 1) {
			t.Errorf("%q: the caller of the request is known: %v", headers, known)
		}
	}
}

// TestByToken_Own: the question about a cookie that the site names has it, and the nonce, which the platform's own cookie needs under
// another name, too, whatever else there is. The login cookie beside it stays out.
func TestByToken_Own(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, target, line string }{
		{"mysite_in", "/wp-json/wp/v2/posts", "X-A: b"},
		{"mysite_in", "/wp-json/wp/v2/posts", "Cookie: wordpress_x=y"},
		{"mysite_in", "/wp-json/wp/v2/posts", loginLine},
		{"mysite_in", "/wp-json/wc/v3/orders", shopKey},
		{"mysite_in", "/wp-json/wp/v2/posts?token=a&signature=b&_for=jetpack", "X-A: b"},
		{"wordpress_sso", "/wp-json/wp/v2/posts", "X-A: b"},
		{"wordpress_sso", "/wp-json/wp/v2/posts", loginLine},
	} {
		s := newSite(t, Own{Cookies: []string{tt.name}})
		backend := asktest.Answering(200, `{"id":7,"username":"maria","roles":[],"capabilities":{}}`)
		w := request(t, s, backend, http.MethodGet, tt.target, "", "Cookie: "+tt.name+"=maria%7C1", nonceLine, tt.line)
		if who, answer, err := w.ByToken(t.Context()); !w.SaysUser() || who.Login != "maria" || answer != nil || err != nil {
			t.Errorf("%+v: %+v, %v, %v", tt, who, answer, err)
		}
		for _, q := range backend.Questions() {
			if q.Header.Get("Cookie") != tt.name+"=maria%7C1" || q.Header.Get("X-Wp-Nonce") == "" {
				t.Errorf("%+v: the question has %v", tt, q.Header)
			}
		}
	}
}

// TestClaim_OwnAlias: a cookie that PHP may fold onto one that the site names makes a claim unclear, whatever else counts.
func TestClaim_OwnAlias(t *testing.T) {
	t.Parallel()
	s := newSite(t, Own{Cookies: []string{"sso_session"}})
	for _, cookie := range []string{"sso.session", "sso session", "sso[session", "sso_session[a]"} {
		for _, beside := range []struct{ target, line string }{
			{"/wp-json/wp/v2/posts", "X-A: b"},
			{"/wp-json/wc/v3/orders", shopKey},
			{"/wp-json/wc/v3/orders?consumer_key=ck_1&consumer_secret=cs_1", "X-A: b"},
			{"/wp-json/wc/store/v1/cart", loginLine},
			{"/wp-json/woocommerce/mcp", "X-Mcp-Api-Key: ck_1:cs_1"},
			{"/wp-json/wp/v2/posts?token=a&signature=b&_for=jetpack", "X-A: b"},
		} {
			w := request(t, s, nil, http.MethodGet, beside.target, "", "Cookie: "+cookie+"=x", beside.line)
			if claim, err := w.Claim(); err == nil {
				t.Errorf("%s, %+v: %d", cookie, beside, claim)
			}
		}
	}
}

// TestNamed_Refused: a log-in that the platform has refused a moment ago, as one that it had locked out, is asked about anew: it may
// be taken again by now. That somebody has no application password is no refusal, and is remembered.
func TestNamed_Refused(t *testing.T) {
	t.Parallel()
	refusal := func(code string) string { return `{"code":"` + code + `","message":"","data":{"status":401}}` }
	for name, ask := range map[string]func(*Whole) (string, error){
		"by password": func(w *Whole) (string, error) { who, _, err := w.ByPassword(t.Context()); return who.Login, err },
		"by token":    func(w *Whole) (string, error) { who, _, err := w.ByToken(t.Context()); return who.Login, err },
		"password":    func(w *Whole) (string, error) { return w.Password(t.Context()) },
	} {
		for _, code := range []string{"rest_not_logged_in", "incorrect_password"} {
			s, header := newSite(t), basicAuth
			if name == "by token" {
				header = "Authorization: Bearer x"
			}
			to := func(backend *asktest.Platform) (string, error) {
				return ask(request(t, s, backend, http.MethodGet, "/wp-json/wp/v2/posts", "", header))
			}
			if who, err := to(asktest.Answering(401, refusal(code))); who != "" || err != nil {
				t.Errorf("%s, %s: %q, %v", name, code, who, err)
			}
			if who, err := to(asktest.Answering(200, `{"id":7,"username":"maria","uuid":"`+usedUUID+`","roles":[],"capabilities":{}}`)); who == "" || err != nil {
				t.Errorf("%s, %s: nobody is asked about a moment later, %v", name, code, err)
			}
		}
	}
	s, none := newSite(t), asktest.Answering(404, refusal("rest_no_authenticated_app_password"))
	for range 2 {
		if uuid, err := request(t, s, none, http.MethodGet, "/wp-json/wp/v2/posts", "", basicAuth).Password(t.Context()); uuid != "" || err != nil {
			t.Error(uuid, err)
		}
	}
	if n := len(none.Questions()); n != 1 {
		t.Errorf("%d questions", n)
	}
}
