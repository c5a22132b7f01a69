package caller

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// told is an answer of the platform for a watch.
type told struct {
	status int
	header string // "Name: value", several by line
	body   string
}

func (a told) answer() *ask.Answer {
	h := http.Header{}
	for line := range strings.SplitSeq(a.header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Add(name, value)
		}
	}
	return &ask.Answer{Status: a.status, Header: h, Body: []byte(a.body)}
}

// The answers of the real platform after a password was set, and after a wrong key.
const (
	cleared  = "Set-Cookie: wp-resetpass-abc=+; expires=Sat, 22-Nov-2025 02:30:00 GMT; Max-Age=0; path=/wp-login.php; HttpOnly"
	wrongKey = cleared + "\nLocation: /wp-login.php?action=lostpassword&error=invalidkey"
	updated  = "Location: profile.php?updated=1"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// dropTest is a request and its answer.
type dropTest struct {
	method, target, body string
	headers              []string
	told                 told
	drops                bool // user 1, who is asked about
}

func TestIdentities_Drops(t *testing.T) {
	testDrops(t, map[string]dropTest{
		"application password revoked":  {"DELETE", "/wp-json/wp/v2/users/1/application-passwords/abc", "", nil, told{200, "", ""}, true},
		"revocation refused":            {"DELETE", "/wp-json/wp/v2/users/1/application-passwords/abc", "", nil, told{403, "", ""}, false},
		"revoked by an override":        {"POST", "/wp-json/wp/v2/users/1/application-passwords/abc?_method=DELETE", "", nil, told{200, "", ""}, true},
		"created by me":                 {"POST", "/wp-json/wp/v2/users/me/application-passwords", "", []string{loginLine, nonceLine}, told{201, "", ""}, true},
		"created by nobody":             {"POST", "/wp-json/wp/v2/users/me/application-passwords", "", nil, told{201, "", ""}, false},
		"nobody is redirected":          {"POST", "/wp-json/wp/v2/users/1/application-passwords", "", nil, told{301, "Location: https://www.shop.example/wp-json/", ""}, false},
		"an unclear id is redirected":   {"POST", "/wp-json/wp/v2/users/9?id=0x1", "", nil, told{302, "", ""}, false},
		"a batch is redirected":         {"POST", "/wp-json/wc/v3/customers/batch", `{"update":[{"id":1,"password":"x"}]}`, []string{jsonType}, told{302, "", ""}, false},
		"role changed":                  {"PUT", "/wp-json/wp/v2/users/1", `{"roles":["editor"]}`, []string{jsonType}, told{200, "", ""}, true},
		"another user changed":          {"PUT", "/wp-json/wp/v2/users/9", `{"name":"x"}`, []string{jsonType}, told{200, "", ""}, false},
		"another's password revoked":    {"DELETE", "/wp-json/wp/v2/users/9/application-passwords/abc", "", nil, told{200, "", ""}, false},
		"another's path, by user_id":    {"POST", "/wp-json/wp/v2/users/9/application-passwords", `{"user_id":1}`, []string{jsonType}, told{201, "", ""}, true},
		"another user in the path only": {"PUT", "/wp-json/wp/v2/users/9", `{"id":1}`, []string{jsonType}, told{200, "", ""}, true},
		"in a batch":                    {"POST", "/wp-json/batch/v1", `{"requests":[{"method":"PUT","path":"/wp/v2/users/1"}]}`, []string{jsonType, loginLine, nonceLine}, told{207, "", ""}, true},
		"in anybody's batch":            {"POST", "/wp-json/batch/v1", `{"requests":[{"method":"PUT","path":"/wp/v2/users/1"}]}`, []string{jsonType}, told{207, "", ""}, false},
		"in an envelope":                {"DELETE", "/wp-json/wp/v2/users/me?force=true&reassign=0&_envelope=1", "", nil, told{200, "", ""}, false},
		"in an envelope, a user's":      {"POST", "/wp-json/wp/v2/users/1?.envelope&_envelope", `{"password":"x"}`, []string{jsonType}, told{200, "", ""}, false},
		"by a dropped override":         {"POST", "/wp-json/wp/v2/users/1?_method=GET", `{"password":"x"}`, []string{jsonType, loginLine, nonceLine}, told{200, "", ""}, true},
		"by a dropped header":           {"DELETE", "/wp-json/wp/v2/users/1?force=true", "", []string{"X-HTTP-Method-Override: GET", loginLine, nonceLine}, told{200, "", ""}, true},
		"users read":                    {"GET", "/wp-json/wp/v2/users/1", "", nil, told{200, "", ""}, false},

		"customer: password":          {"PUT", "/wp-json/wc/v3/customers/1", `{"password":"x"}`, []string{jsonType}, told{200, "", ""}, true},
		"customer: password, v1":      {"POST", "/wp-json/wc/v1/customers/1", "password=x", []string{formType}, told{200, "", ""}, true},
		"customer: role":              {"PATCH", "/wp-json/wc/v3/customers/1", `{"role":"editor"}`, []string{jsonType}, told{200, "", ""}, true},
		"customer: refused":           {"PUT", "/wp-json/wc/v3/customers/1", `{"password":"x"}`, []string{jsonType}, told{403, "", ""}, false},
		"customer: another":           {"PUT", "/wp-json/wc/v3/customers/9", `{"password":"x"}`, []string{jsonType}, told{200, "", ""}, false},
		"customer: another's path":    {"PUT", "/wp-json/wc/v3/customers/9", `{"password":"x","id":1}`, []string{jsonType}, told{200, "", ""}, true},
		"customer: address":           {"PUT", "/wp-json/wc/v3/customers/1", `{"billing":{"city":"x"}}`, []string{jsonType}, told{200, "", ""}, false},
		"customer: deleted":           {"DELETE", "/wp-json/wc/v3/customers/1?force=true", "", nil, told{200, "", ""}, true},
		"customer: read":              {"GET", "/wp-json/wc/v3/customers/1?password=x", "", nil, told{200, "", ""}, false},
		"customer: password, batch":   {"POST", "/wp-json/wc/v3/customers/batch", `{"update":[{"id":9,"city":"x"},{"id":1,"password":"x"}]}`, []string{jsonType}, told{200, "", ""}, true},
		"customer: no password there": {"POST", "/wp-json/wc/v3/customers/batch", `{"update":[{"id":1,"first_name":"x"}]}`, []string{jsonType}, told{200, "", ""}, false},
	})
}

func TestIdentities_DropsByPages(t *testing.T) {
	reset := []string{formType, "Cookie: wp-resetpass-abc=admin%3Akey"}
	forged := []string{formType, "Cookie: wordpress_x=1"}
	page := []string{formType, loginLine}
	const profile = "action=update&user_id=1&pass1=x"
	const done, failed = `{"success":true,"data":{"message":"Logged out."}}`, `{"success":false,"data":{"message":"No."}}`
	const sessions = "action=destroy-sessions&nonce=1&user_id="
	testDrops(t, map[string]dropTest{
		"logout":                      {"GET", "/wp-login.php?action=logout&_wpnonce=1", "", []string{loginLine}, told{302, "", ""}, true},
		"logout without its nonce":    {"GET", "/wp-login.php?action=logout", "", []string{loginLine}, told{403, "", ""}, false},
		"a page that mentions logout": {"GET", "/wp-login.php?x=logout", "", []string{loginLine}, told{200, "", ""}, false},
		"logout of somebody else":     {"GET", "/wp-login.php?action=logout", "", []string{"Cookie: wordpress_logged_in_abc=other"}, told{302, "", ""}, false},
		"login":                       {"POST", "/wp-login.php", "log=x&pwd=y", []string{formType}, told{200, "", ""}, false},
		"page":                        {"GET", "/shop/", "", []string{loginLine}, told{200, "", ""}, false},

		"password reset":                   {"POST", "/wp-login.php?action=resetpass", "pass1=x", reset, told{200, cleared, ""}, true},
		"password reset, hidden log-in":    {"POST", "/enter/?action=resetpass", "pass1=x", reset, told{200, cleared, ""}, true},
		"password reset, the shop's own":   {"POST", "/my-account/lost-password/", "password_1=x", reset, told{302, cleared + "\nLocation: https://shop.example/my-account/?password-reset=true", ""}, true},
		"password reset, expiry alone":     {"POST", "/wp-login.php?action=resetpass", "pass1=x", reset, told{200, "Set-Cookie: wp-resetpass-abc=+; expires=Sat, 22-Nov-2025 02:30:00 GMT", ""}, true},
		"password reset, wrong key":        {"POST", "/wp-login.php?action=resetpass", "pass1=x", reset, told{302, wrongKey, ""}, false},
		"password reset, two words differ": {"POST", "/wp-login.php?action=resetpass", "pass1=x&pass2=y", reset, told{200, "", ""}, false},
		"password reset, no key":           {"POST", "/wp-login.php?action=resetpass", "pass1=x", []string{formType}, told{200, cleared, ""}, false},
		"anybody with a cookie":            {"POST", "/wp-login.php", "log=x", []string{formType, "Cookie: x-resetpass-y=1"}, told{200, "Set-Cookie: wordpress_test_cookie=WP%20Cookie%20check; path=/", ""}, false},
		"a reset cookie is set":            {"POST", "/wp-login.php", "log=x", reset, told{200, "Set-Cookie: wp-resetpass-abc=admin%3Akey; path=/wp-login.php", ""}, false},

		"profile saved":               {"POST", "/wp-admin/profile.php", profile, page, told{302, updated, ""}, true},
		"profile, whole address":      {"POST", "/blog/core/wp-admin/profile.php", profile, page, told{302, "Location: https://shop.example/blog/core/wp-admin/profile.php?updated=1", ""}, true},
		"profile, forged cookie":      {"POST", "/wp-admin/profile.php", profile, forged, told{302, "Location: /wp-login.php?redirect_to=%2Fwp-admin%2Fprofile.php%3Fupdated=1", ""}, false},
		"profile, nobody":             {"POST", "/wp-admin/profile.php", profile, []string{formType}, told{302, updated, ""}, false},
		"profile in parts":            {"POST", "/wp-admin/profile.php", "--B\r\nContent-Disposition: form-data; name=user_id\r\n\r\n1\r\n--B--", []string{"Content-Type: multipart/form-data; boundary=B", loginLine}, told{302, updated, ""}, true},
		"profile of another":          {"POST", "/wp-admin/profile.php", "user_id=9", page, told{302, updated, ""}, false},
		"profile, odd user":           {"POST", "/wp-admin/profile.php", "user_id=1x", page, told{302, updated, ""}, false},
		"profile, its e-mail":         {"POST", "/wp-admin/profile.php?dismiss=9_new_email&_wpnonce=1", profile, page, told{302, "Location: https://shop.example/wp-admin/profile.php?updated=true", ""}, false},
		"edited by another":           {"POST", "/wp-admin/user-edit.php", profile, page, told{302, "Location: https://shop.example/wp-admin/user-edit.php?user_id=1&updated=1&wp_http_referer=x", ""}, true},
		"another edited":              {"POST", "/wp-admin/user-edit.php", "action=update&user_id=9", page, told{302, "Location: https://shop.example/wp-admin/profile.php?updated=1", ""}, false},
		"profile and a reset cookie":  {"POST", "/wp-admin/profile.php", profile, []string{formType, "Cookie: a-resetpass-b=1; wordpress_logged_in_abc=admin%7C1"}, told{302, updated, ""}, true},
		"profile with an error":       {"POST", "/wp-admin/profile.php", profile, page, told{200, "", ""}, false},
		"roles changed":               {"GET", "/wp-admin/users.php?action=-1&new_role=editor&users%5B%5D=1&changeit=Change", "", page, told{302, "Location: users.php?update=promote", ""}, true},
		"roles changed, network":      {"POST", "/wp-admin/network/users.php", "action=x", page, told{302, "Location: https://shop.example/wp-admin/network/users.php?updated=true&action=all_delete", ""}, true},
		"a second new user":           {"POST", "/wp-admin/user-new.php?update=add", "action=createuser", page, told{302, "Location: user-new.php?update=add", ""}, true},
		"users listed":                {"GET", "/wp-admin/users.php?role=editor", "", page, told{200, "", ""}, false},
		"a page of that name":         {"POST", "/x/users.php", "a=b", forged, told{200, "", ""}, false},
		"a page of that name, moved":  {"POST", "/x/users.php", "a=b", forged, told{302, "Location: /users.php?updated=1", ""}, false},
		"the front page in its place": {"POST", "/x/wp-admin/users.php", "a=b", forged, told{200, "", ""}, false},
		"moved to another host":       {"POST", "/wp-admin/users.php?update=1", "a=b", forged, told{302, "Location: https://www.shop.example/wp-admin/users.php?update=1", ""}, false},
		"moved, one slash less":       {"POST", "//wp-admin/users.php?updated=1", "a=b", forged, told{302, "Location: /wp-admin/users.php?updated=1", ""}, false},
		"moved, decoded":              {"POST", "/wp-%61dmin/users.php?%75pdated=1", "a=b", forged, told{302, "Location: https://shop.example/wp-admin/users.php?updated=1", ""}, false},
		"moved, in another order":     {"POST", "/wp-admin/users.php?a=b&update=1", "a=b", forged, told{303, "Location: /blog/wp-admin/users.php?update=1&a=b", ""}, false},
		"roles changed, listed again": {"GET", "/wp-admin/users.php?action=promote&new_role=editor&_wp_http_referer=%2Fwp-admin%2Fusers.php%3Fupdate%3Dpromote", "", page, told{302, "Location: /wp-admin/users.php?update=promote", ""}, true},
		"deleted":                     {"POST", "/wp-admin/users.php?action=delete&user=1&_wpnonce=1", "action=dodelete", page, told{302, "Location: users.php?delete_count=1&update=del", ""}, true},
		"another site of the network": {"POST", "/wp-admin/user-new.php?update=addnoconfirmation", "action=adduser", page, told{302, "Location: user-new.php?update=addnoconfirmation&user_id=1", ""}, true},
		"moved to the home page":      {"POST", "/wp-admin/users.php", "a=b", forged, told{302, "Location: /?updated=1", ""}, false},

		"log out everywhere else":         {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "", done}, true},
		"log out everywhere, encoded":     {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "Content-Encoding: gzip", zipped(done)}, true},
		"log out everywhere: no, encoded": {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "Content-Encoding: gzip", zipped(failed)}, false},
		"log out everywhere, unreadable":  {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "Content-Encoding: br", done}, false},
		"log out everywhere, odd user":    {"POST", "/wp-admin/admin-ajax.php", sessions + "1x", page, told{200, "", done}, false},
		"log out everywhere, a blank":     {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "", "\n" + done}, true},
		"log somebody else out":           {"POST", "/wp-admin/admin-ajax.php", sessions + "9", page, told{200, "", done}, false},
		"log out everywhere: no":          {"POST", "/wp-admin/admin-ajax.php", sessions + "1", page, told{200, "", failed}, false},
		"log out everywhere: forged":      {"POST", "/wp-admin/admin-ajax.php", sessions + "1", forged, told{400, "", "0"}, false},
		"log out everywhere: nobody":      {"POST", "/wp-admin/admin-ajax.php", sessions + "1", []string{formType}, told{200, "", done}, false},
		"behind another script":           {"POST", "/wp-login.php/x-admin/admin-ajax.php", sessions + "1", page, told{200, "", done}, false},
		"a screen behind a script":        {"POST", "/index.php/wp-admin/profile.php", profile, page, told{302, updated, ""}, false},
		"another action":                  {"POST", "/wp-admin/admin-ajax.php", "action=heartbeat&user_id=1", page, told{200, "", done}, false},
		"log out everywhere in the query": {"GET", "/wp-admin/admin-ajax.php?" + sessions + "1", "", page, told{200, "", done}, false},
	})
}

// testDrops sends each request with its answer between two questions of user 1.
func testDrops(t *testing.T, tests map[string]dropTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			backend := asktest.Answering(200, adminBody)
			known := []string{loginLine, nonceLine}
			who := func() {
				if _, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", known...).Who(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			who()
			r := request(t, s, backend, test.method, test.target, test.body, test.headers...)
			if strings.HasSuffix(r.Call.Route, "/batch/v1") || strings.HasSuffix(r.Call.Route, "/batch") { // as in the rule about batches
				_, _, _ = r.Who(t.Context())
			}
			if drop, _ := s.Identities.Watch(r); drop != nil {
				drop(test.told.answer())
			}
			who()
			if asked := len(backend.Questions()); (asked == 2) != test.drops {
				t.Errorf("asked %d times, want a drop: %v", asked, test.drops)
			}
		})
	}
}

// TestIdentities_DropsOwnAboveLimit: a user whose address has used up the limit of questions does
// not empty the memory of all.
func TestIdentities_DropsOwnAboveLimit(t *testing.T) {
	s, backend := withOptions(t, Options{Rate: 1, Per: time.Hour}), asktest.Answering(200, adminBody)
	who := func() { whoIs(t, s, backend, loginLine, nonceLine) }
	who()
	s.Identities.limit.Allow("192.0.2.7")
	drop, _ := s.Identities.Watch(request(t, s, backend, "POST", "/wp-json/wp/v2/users/me", "", "Cookie: wordpress_logged_in_abc=customer", nonceLine))
	if drop != nil {
		drop(asktest.JSON(200, "{}"))
	}
	if who(); len(backend.Questions()) != 1 {
		t.Errorf("%d questions", len(backend.Questions()))
	}
}

// customerOrAdmin knows a customer by a cookie, a super admin and a user without capabilities that it tells, and an
// administrator by any other.
func customerOrAdmin() *asktest.Platform {
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		switch auth := q.Header.Get("Authorization"); {
		case strings.Contains(auth, "down"):
			return nil, ask.ErrUndecided
		case strings.HasPrefix(auth, "OAuth"):
			return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error"}`), nil
		case q.Route == "/wc/v3/orders":
			return asktest.JSON(200, "[]"), nil
		case strings.Contains(q.Header.Get("Cookie"), "customer"):
			return asktest.JSON(200, `{"id":5,"roles":["customer"],"capabilities":{"read":true}}`), nil
		case strings.Contains(q.Header.Get("Cookie"), "super") && q.Route == "/wp/v2/settings":
			return asktest.JSON(200, `{"title":"x"}`), nil
		case strings.Contains(q.Header.Get("Cookie"), "super"):
			return asktest.JSON(200, `{"id":9,"roles":[],"capabilities":[]}`), nil
		case strings.Contains(q.Header.Get("Cookie"), "untold"):
			return asktest.JSON(200, `{"id":8}`), nil
		case auth == "Bearer x":
			return asktest.JSON(401, `{"code":"rest_not_logged_in"}`), nil
		case auth != "":
			return asktest.JSON(401, `{"code":"incorrect_password"}`), nil
		}
		return asktest.JSON(200, adminBody), nil
	}}
}

// TestIdentities_DropsOwn: who writes to the own account, as user 5 or with the credentials of
// nobody, has the user asked about before the write, and drops no other and no shop key.
func TestIdentities_DropsOwn(t *testing.T) {
	const me = "/wp-json/wp/v2/users/me"
	const batch = "/wp-json/batch/v1?requests[0][method]=PUT&requests[0][path]=/wp/v2/users/1"
	customer := []string{"Cookie: wordpress_logged_in_abc=customer", nonceLine}
	for name, test := range map[string]struct {
		method, target string
		headers        []string
		status         int
		asks           bool   // about the writer
		drops          string // of user 1, a key, and the customer
	}{
		"by another id in the query":   {"POST", "/wp-json/wp/v2/users/1?id=5", customer, 200, true, "customer"},
		"by an odd id":                 {"POST", "/wp-json/wp/v2/users/5?id=5%20", customer, 200, true, "customer"},
		"a password, by another id":    {"POST", "/wp-json/wp/v2/users/1/application-passwords?user_id=5", customer, 201, true, "customer"},
		"an odd id of nobody":          {"POST", "/wp-json/wp/v2/users/5?id=5%20", nil, 401, false, ""},
		"a customer's batch":           {"POST", batch, customer, 207, false, "customer key"},
		"nobody's batch":               {"POST", batch, nil, 207, false, ""},
		"a forged batch":               {"POST", batch, []string{basicAuth}, 207, false, ""},
		"written":                      {"POST", me, customer, 200, true, "customer"},
		"read, by an override written": {"GET", me + "?_method=PUT", customer, 200, true, "customer"},
		"by an override":               {"POST", me + "?_method=PATCH", customer, 200, true, "customer"},
		"refused":                      {"POST", me, customer, 400, true, ""},
		"application password":         {"POST", me + "/application-passwords", customer, 201, true, "customer"},
		"all revoked":                  {"DELETE", me + "/application-passwords", customer, 200, true, "customer"},
		"one's own by number":          {"POST", "/wp-json/wp/v2/users/5", customer, 200, false, "customer"},
		"deleted":                      {"DELETE", me + "?force=true&reassign=0", customer, 200, true, "customer key"},
		"deleted by number":            {"DELETE", "/wp-json/wp/v2/users/5?force=true", customer, 200, false, "customer key"},
		"a customer deleted":           {"DELETE", "/wp-json/wc/v3/customers/5?force=true", customer, 200, false, "customer key"},
		"nobody":                       {"POST", me, nil, 200, false, ""},
		"nobody's OPTIONS":             {"DELETE", "/wp-json/wp/v2/users/1?_method=OPTIONS", nil, 200, false, ""},
		"nobody's OPTIONS of no user":  {"DELETE", "/wp-json/wc/v3/customers/x?_method=OPTIONS", nil, 200, false, ""},
		"nobody's OPTIONS, by header":  {"POST", "/wp-json/wp/v2/users/1/application-passwords", []string{"X-HTTP-Method-Override: OPTIONS"}, 200, false, ""},
		"anybody's signature":          {"DELETE", "/wp-json/wc/v3/customers/x?_method=OPTIONS", []string{`Authorization: OAuth oauth_consumer_key="x", oauth_signature="y"`}, 200, true, ""},
		"anybody's, of no answer":      {"DELETE", "/wp-json/wc/v3/customers/x?_method=OPTIONS", []string{`Authorization: OAuth oauth_consumer_key="down", oauth_signature="y"`}, 200, true, ""},
		"a route of a plugin":          {"POST", "/wp-json/wp/v2/users/lost-password", nil, 200, false, ""},
		"a customer's OPTIONS":         {"POST", "/wp-json/wp/v2/users/1?_method=OPTIONS", customer, 200, true, "customer"},
		"an administrator's":           {"POST", "/wp-json/wp/v2/users/1?id=3", []string{"Cookie: wordpress_logged_in_abc=super", nonceLine}, 200, true, "admin key customer"},
		"one of untold capabilities":   {"POST", "/wp-json/wp/v2/users/1?id=3", []string{"Cookie: wordpress_logged_in_abc=untold", nonceLine}, 200, true, "admin key customer"},
		"a cookie without a nonce":     {"POST", me, customer[:1], 200, false, ""},
		"forged":                       {"POST", me, []string{basicAuth}, 401, true, ""},
		"nobody to the platform":       {"POST", me, []string{"Authorization: Bearer x"}, 200, true, ""},
		"nobody can say who that is":   {"POST", me, []string{"Authorization: Bearer down"}, 200, true, "admin key customer"},
		"read":                         {"GET", me, customer, 200, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			backend := customerOrAdmin()
			asked := func(r *Whole) bool {
				before := len(backend.Questions())
				_, _, _ = r.Who(t.Context())
				return len(backend.Questions()) > before
			}
			others := map[string]func() *Whole{
				"admin": func() *Whole { return request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", loginLine, nonceLine) },
				"key":   func() *Whole { return request(t, s, backend, "GET", "/wp-json/wc/v3/orders", "", shopKey) },
				"customer": func() *Whole {
					return request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", "Cookie: wordpress_logged_in_abc=customer; wordpress_sec_abc=2", nonceLine)
				},
			}
			for _, r := range others {
				asked(r())
			}
			watched := request(t, s, backend, test.method, test.target, "", test.headers...)
			if watched.Call.Kind == call.Batch { // as in the rule about batches
				_, _, _ = watched.Who(t.Context())
			}
			before := len(backend.Questions())
			drop, _ := s.Identities.Watch(watched)
			if asks := len(backend.Questions()) > before; asks != test.asks {
				t.Errorf("asks: %t", asks)
			}
			if drop != nil {
				drop(asktest.JSON(test.status, "{}"))
			}
			for who, r := range others {
				if dropped, want := asked(r()), strings.Contains(test.drops, who); dropped != want {
					t.Errorf("drops %s: %t, want %t", who, dropped, want)
				}
			}
		})
	}
}
