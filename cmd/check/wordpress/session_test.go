//go:build wordpress

package wordpress

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// session is a login at a gate, with cookies as a browser keeps them.
type session struct {
	client *http.Client
	user   account
	nonce  string
	header []string // cookies and nonce as header lines, which outlive a logout
}

// login logs in through the platform's own form and fetches a nonce.
func login(ctx context.Context, g *gate, user account) (*session, error) {
	return loginFor(ctx, g, user, 0)
}

// loginFor is login for a session of that length, 0 for the platform's own.
func loginFor(ctx context.Context, g *gate, user account, life time.Duration) (*session, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &session{user: user, client: &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: httpClient.CheckRedirect}}
	form := url.Values{"log": {user.Login}, "pwd": {user.Password}, "wp-submit": {"Log In"}, "testcookie": {"1"}}
	if life > 0 {
		form.Set("standin_life", strconv.Itoa(int(life/time.Second)))
	}
	if _, err := fetch(ctx, g, request{path: g.Site.Core + "/wp-login.php", client: s.client}); err != nil { // sets the test cookie
		return nil, err
	}
	a, err := fetch(ctx, g, request{method: "POST", path: g.Site.Core + "/wp-login.php", body: form.Encode(), headers: []string{formType}, client: s.client})
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusFound {
		return nil, fmt.Errorf("login: %s", a)
	}
	a, err = fetch(ctx, g, request{path: g.Site.Core + "/wp-admin/admin-ajax.php?action=rest-nonce", client: s.client})
	if err != nil {
		return nil, err
	}
	if s.nonce = string(a.body); a.status != 200 || len(s.nonce) != 10 {
		return nil, fmt.Errorf("nonce: %s", a)
	}
	s.header = []string{"X-WP-Nonce: " + s.nonce, "Cookie: " + cookies(g, jar)}
	return s, nil
}

// cookies returns what a browser would send to the REST interface; at a bare
// gate, where in the sub-folder they would not reach it, all of them.
func cookies(g *gate, jar http.CookieJar) string {
	path := "/wp-json/"
	if g.Mode == modeBare {
		path = g.Site.Core + path
	}
	at, err := url.Parse(g.url(path))
	if err != nil {
		return ""
	}
	var pairs []string
	for _, c := range jar.Cookies(at) {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, "; ")
}

// logout follows the platform's own link.
func (s *session) logout(ctx context.Context, g *gate) error {
	// The link carries a nonce of its own; without it the platform asks first.
	a, err := fetch(ctx, g, request{path: g.Site.Core + "/wp-login.php?action=logout", client: s.client})
	if err != nil {
		return err
	}
	_, rest, ok := strings.Cut(string(a.body), "action=logout&amp;_wpnonce=")
	if !ok || len(rest) < 10 {
		return fmt.Errorf("no link to log out: %s", a)
	}
	a, err = fetch(ctx, g, request{path: g.Site.Core + "/wp-login.php?action=logout&_wpnonce=" + rest[:10], client: s.client})
	if err == nil && a.status != http.StatusFound {
		err = fmt.Errorf("logout: %s", a)
	}
	return err
}

// holdsNone is that the browser sends no login cookie to any place of the site.
func (s *session) holdsNone(g *gate) error {
	for _, path := range []string{"/wp-json/", g.Site.Core + "/", g.Site.Core + "/wp-admin/", g.Site.Core + "/wp-content/plugins/x"} {
		at, err := url.Parse(g.url(path))
		if err != nil {
			return err
		}
		for _, c := range s.client.Jar.Cookies(at) {
			if strings.HasPrefix(c.Name, "wordpress_") && c.Name != "wordpress_test_cookie" {
				return fmt.Errorf("%s is sent to %s after the logout", c.Name, path)
			}
		}
	}
	return nil
}

// screenNonce returns the nonce of the form on the profile screen.
func (s *session) screenNonce(ctx context.Context, g *gate) (string, error) {
	a, err := fetch(ctx, g, request{path: g.Site.Core + "/wp-admin/profile.php", client: s.client})
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(string(a.body), `name="_wpnonce" value="`)
	if !ok || len(rest) < 10 {
		return "", fmt.Errorf("no nonce on the profile screen: %s", a)
	}
	return rest[:10], nil
}

// logoutElsewhere does what the button "Log out everywhere else" does.
func (s *session) logoutElsewhere(ctx context.Context, g *gate) error {
	nonce, err := s.screenNonce(ctx, g)
	if err != nil {
		return err
	}
	form := url.Values{"action": {"destroy-sessions"}, "nonce": {nonce}, "user_id": {strconv.Itoa(s.user.ID)}}
	a, err := fetch(ctx, g, request{
		method: "POST", path: g.Site.Core + "/wp-admin/admin-ajax.php", body: form.Encode(), headers: []string{formType}, client: s.client,
	})
	if err == nil && !strings.Contains(string(a.body), `"success":true`) {
		err = fmt.Errorf("log out elsewhere: %s", a)
	}
	return err
}

// changePassword saves the profile screen with a new password: the same text, whose
// new hash ends all other sessions.
func (s *session) changePassword(ctx context.Context, g *gate) error {
	nonce, err := s.screenNonce(ctx, g)
	if err != nil {
		return err
	}
	form := url.Values{
		"action": {"update"}, "user_id": {strconv.Itoa(s.user.ID)}, "_wpnonce": {nonce}, "from": {"profile"},
		"email": {s.user.Login + "@example.test"}, "nickname": {s.user.Login}, "pass1": {s.user.Password}, "pass2": {s.user.Password},
	}
	a, err := fetch(ctx, g, request{
		method: "POST", path: g.Site.Core + "/wp-admin/profile.php", body: form.Encode(), headers: []string{formType}, client: s.client,
	})
	if err == nil && a.status != http.StatusFound {
		err = fmt.Errorf("profile: %s", a)
	}
	return err
}

// nonceLife is how long the platform takes half a nonce's life to be.
const nonceLife = 12 * time.Hour

// nonceAt computes the session's REST nonce as the platform would have at
// another time: the test's sites have known salts.
func (s *session) nonceAt(g *gate, at time.Time) (string, error) {
	token, err := s.token()
	if err != nil {
		return "", err
	}
	salt := func(name string) string {
		sum := sha256.Sum256([]byte(name + g.Site.Name))
		return hex.EncodeToString(sum[:])
	}
	life := int64(nonceLife / time.Second)
	tick := (at.Unix() + life - 1) / life
	mac := hmac.New(md5.New, []byte(salt("NONCE_KEY")+salt("NONCE_SALT")))
	_, _ = fmt.Fprintf(mac, "%d|wp_rest|%d|%s", tick, s.user.ID, token)
	sum := hex.EncodeToString(mac.Sum(nil))
	return sum[len(sum)-12 : len(sum)-2], nil
}

// token is the session's, the third field of the login cookie.
func (s *session) token() (string, error) {
	_, value, found := strings.Cut(s.header[1], "wordpress_logged_in_")
	value, _, _ = strings.Cut(value, ";")
	if _, value, _ = strings.Cut(value, "="); !found || value == "" {
		return "", fmt.Errorf("no login cookie reaches REST: %s", s.header[1])
	}
	value, err := url.QueryUnescape(value)
	if err != nil {
		return "", err
	}
	fields := strings.Split(value, "|")
	if len(fields) != 4 {
		return "", fmt.Errorf("login cookie of %d fields", len(fields))
	}
	return fields[2], nil
}
