package caller

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

func TestWho(t *testing.T) {
	user := asktest.Answering(200, adminBody)
	for name, test := range map[string]struct {
		backend *asktest.Platform
		target  string
		headers []string
		kind    Kind
		route   string // route of the question; "" for none
	}{
		"anonymous":                     {user, "/wp-json/wp/v2/posts", nil, Anonymous, ""},
		"application password":          {user, "/wp-json/wp/v2/posts", []string{basicAuth}, User, "/wp/v2/users/me"},
		"bearer token":                  {user, "/wp-json/wp/v2/posts", []string{"Authorization: Bearer x"}, User, "/wp/v2/users/me"},
		"tool key":                      {asktest.Answering(200, `[{"id":7}]`), "/wp-json/woocommerce/mcp", []string{"X-MCP-API-Key: a:b"}, KeyHolder, "/wc/v3/orders"},
		"tool key elsewhere":            {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wp/v2/posts", []string{"X-MCP-API-Key: a:b"}, Anonymous, "/wp/v2/users/me"},
		"admin cookie and nonce":        {user, "/wp-json/wp/v2/posts", []string{"Cookie: wordpress_sec_abc=x", nonceLine}, User, "/wp/v2/users/me"},
		"test cookie and nonce":         {user, "/wp-json/wp/v2/posts", []string{"Cookie: wordpress_test_cookie=x", nonceLine}, Anonymous, ""},
		"cookie and an empty nonce":     {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wp/v2/posts", []string{loginLine, "X-WP-Nonce: "}, Anonymous, "/wp/v2/users/me"},
		"cookie without nonce":          {user, "/wp-json/wp/v2/posts", []string{loginLine}, Anonymous, ""},
		"cookie and nonce":              {user, "/wp-json/wp/v2/posts", []string{loginLine, nonceLine}, User, "/wp/v2/users/me"},
		"other cookie and nonce":        {user, "/wp-json/wp/v2/posts", []string{"Cookie: a=b", nonceLine}, Anonymous, ""},
		"cookie in the checkout":        {cartOf("7"), "/wp-json/wc/store/v1/cart", []string{loginLine}, User, "/wc/store/v1/cart"},
		"guest cookie in the checkout":  {cartOf("0"), "/wp-json/wc/store/v1/cart", []string{loginLine}, Anonymous, "/wc/store/v1/cart"},
		"shop key":                      {asktest.Answering(200, `[]`), "/wp-json/wc/v3/orders", []string{shopKey}, KeyHolder, "/wc/v3/orders"},
		"shop key in the query":         {asktest.Answering(403, `{"code":"woocommerce_rest_cannot_view"}`), "/wp-json/wc/v3/orders?consumer_key=ck_1&consumer.secret=cs_1", nil, KeyHolder, "/wc/v3/orders"},
		"write-only shop key":           {asktest.Answering(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`), "/wp-json/wc/v3/orders", []string{shopKey}, KeyHolder, "/wc/v3/orders"},
		"unknown shop key":              {asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), "/wp-json/wc/v3/orders", []string{shopKey}, Anonymous, "/wc/v3/orders"},
		"nobody, with 403":              {asktest.Answering(403, `{"code":"rest_not_logged_in"}`), "/wp-json/wp/v2/posts", []string{basicAuth}, Anonymous, "/wp/v2/users/me"},
		"shop key with rest_route":      {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/?rest_route=/wc/v3/orders", []string{shopKey}, Anonymous, "/wc/v3/orders"},
		"OAuth 1":                       {asktest.Answering(401, `{"code":"woocommerce_rest_authentication_error"}`), "/wp-json/wc/v3/orders", []string{"Authorization: OAuth oauth_consumer_key=\"x\""}, Unverified, "/wc/v3/orders"},
		"OAuth 1, lost":                 {asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), "/wp-json/wc/v3/orders", []string{"Authorization: OAuth oauth_consumer_key=\"x\""}, Anonymous, "/wc/v3/orders"},
		"OAuth 1, an odd header":        {user, "/wp-json/wc/v3/orders", []string{"Authorization: OAuth oauth_consumer_key=\"x\u00e9\""}, Anonymous, ""},
		"OAuth 1, header and query":     {user, "/wp-json/wc/v3/orders?oauth_nonce=a", []string{"Authorization: OAuth oauth_consumer_key=\"x\u00e9\""}, Unverified, "/wc/v3/orders"},
		"OAuth 1, empty header":         {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{"Authorization: OAuth"}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1, another scheme":       {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{"Authorization: oauth oauth_consumer_key=\"x\""}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1 behind a wide blank":   {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{"Authorization: \u00a0OAuth oauth_nonce=x"}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1 behind another blank":  {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{"Authorization: \u2003OAuth oauth_nonce=x"}, Anonymous, "/wp/v2/users/me"},
		"Basic with a long s":           {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{"Authorization: Ba\u017fic Y2tfMTpjc18x"}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1, empty to PHP":         {user, "/wp-json/wc/v3/orders?oauth_consumer_key=0&oauth_signature=0", nil, Anonymous, ""},
		"shop key, query form":          {asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), "/?rest_route=/wc/v3/orders&consumer_key=ck_1&consumer_secret=cs_1", nil, Anonymous, "/wc/v3/orders"},
		"OAuth 1, encoded zero":         {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{`Authorization: OAuth oauth_consumer_key="%30"`}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1, emptied again":        {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders", []string{`Authorization: OAuth oauth_consumer_key="x", oauth_consumer_key=""`}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1, emptied by a header":  {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/wc/v3/orders?oauth_nonce=x", []string{`Authorization: OAuth oauth_nonce=""`}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1, capitals in the path": {user, "/wp-json/WC/v3/orders?oauth_nonce=x", nil, Anonymous, ""},
		"shop key, capitals":            {asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "/wp-json/WC/v3/orders", []string{shopKey}, Anonymous, "/wp/v2/users/me"},
		"OAuth 1 beside a cookie":       {user, "/wp-json/wc/v3/orders?oauth_consumer_key=a&oauth_signature=b", []string{loginLine}, Anonymous, ""},
		"OAuth 1 in the query":          {user, "/wp-json/wc/v3/orders?oauth_consumer_key=a&oauth_signature=b", nil, Unverified, "/wc/v3/orders"},
		"OAuth 1 elsewhere":             {user, "/wp-json/wp/v2/posts?oauth_consumer_key=a&oauth_signature=b", nil, Anonymous, ""},
		"Jetpack, not configured":       {user, "/wp-json/wp/v2/posts?_for=jetpack&token=a&signature=b", nil, Anonymous, ""},
		"no capabilities":               {asktest.Answering(200, `{"id":3,"roles":[],"capabilities":[]}`), "/wp-json/wp/v2/posts", []string{basicAuth}, User, "/wp/v2/users/me"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			backend := &asktest.Platform{Answer: test.backend.Answer}
			r := request(t, s, backend, "GET", test.target, "", test.headers...)
			for range 2 {
				caller, answer, err := r.Who(t.Context())
				if err != nil || answer != nil || caller.Kind != test.kind {
					t.Fatalf("got %+v, %+v, %v", caller, answer, err)
				}
			}
			asked := backend.Questions()
			if test.route == "" && len(asked) > 0 || test.route != "" && (len(asked) != 1 || asked[0].Route != test.route) {
				t.Errorf("asked %+v, want %q", asked, test.route)
			}
		})
	}
}

// TestWho_WrongPassword: the client gets the platform's own refusal, except on routes
// where the shop looks for its own keys.
func TestWho_WrongPassword(t *testing.T) {
	for target, handedOn := range map[string]bool{
		"/wp-json/wp/v2/posts": true, "/?rest_route=/wc/v3/orders": true, "/wp-json/wc/v3/orders": false, "/wp-json/wc-analytics/orders": false,
	} {
		s := newSite(t)
		backend := asktest.Answering(401, `{"code":"incorrect_password"}`)
		for range 2 { // the second answer is remembered
			caller, answer, err := request(t, s, backend, "GET", target, "", basicAuth).Who(t.Context())
			if err != nil || caller.Kind != Anonymous || (answer != nil) != handedOn {
				t.Errorf("%s: got %+v, %+v, %v", target, caller, answer, err)
			}
		}
	}
}

// TestWho_FoldedCookies: PHP folds names of cookies. A cookie that no browser sends must
// not count as anonymous.
func TestWho_FoldedCookies(t *testing.T) {
	for _, name := range []string{"wordpress.logged_in_abc", "wordpress logged_in_abc", "wordpress[logged_in_abc", "%77ordpress_logged_in_abc"} {
		s := newSite(t)
		r := request(t, s, asktest.Answering(200, adminBody), "GET", "/wp-json/wp/v2/posts", "", "Cookie: a=b; "+name+"=x", nonceLine)
		var refusal *call.Refusal
		if _, _, err := r.Who(t.Context()); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func cartOf(user string) *asktest.Platform {
	return &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		return &ask.Answer{Status: 200, Header: http.Header{"User-Id": {user}}, Body: []byte(`{}`)}, nil
	}}
}

func TestWho_CapabilitiesGrantedFalseAreNotGranted(t *testing.T) {
	s := newSite(t)
	caller, _, err := request(t, s, asktest.Answering(200, adminBody), "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context())
	if err != nil || caller.Capabilities["gone"] || !caller.Capabilities["manage_options"] {
		t.Errorf("got %+v, %v", caller, err)
	}
}

func TestIdentities_RemembersPerCredential(t *testing.T) {
	s := newSite(t)
	backend := asktest.Answering(200, adminBody)
	ask := func(target string, headers ...string) {
		t.Helper()
		if _, _, err := request(t, s, backend, "GET", target, "", headers...).Who(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, again := range []bool{false, true} {
		ask("/wp-json/wp/v2/posts", basicAuth)
		ask("/wp-json/wp/v2/posts", "Authorization: Basic other")
		ask("/wp-json/wp/v2/posts", loginLine, nonceLine)
		ask("/wp-json/wp/v2/posts", loginLine, "X-WP-Nonce: another")
		ask("/?rest_route=/wp/v2/posts", basicAuth)
		ask("http://other.example/wp-json/wp/v2/posts", basicAuth)
		if n := len(backend.Questions()); n != 6 {
			t.Errorf("again %v: asked %d questions, want 6", again, n)
		}
	}
	ask("/wp-json/wp/v2/pages", "Cookie: tracking=1; wordpress_logged_in_abc=admin%7C1", nonceLine)
	if n := len(backend.Questions()); n != 6 {
		t.Errorf("another cookie made another question")
	}
}

func TestIdentities_AsksOnceAtATime(t *testing.T) {
	s := newSite(t)
	var asked atomic.Int32
	release := make(chan struct{})
	backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		asked.Add(1)
		<-release
		return asktest.JSON(200, adminBody), nil
	}}
	var wg sync.WaitGroup
	for range 20 {
		r := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
		wg.Go(func() {
			if c, _, err := r.Who(t.Context()); err != nil || c.Kind != User {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestIdentities_ForgedCredentialsAreBounded(t *testing.T) {
	s := newSite(t)
	backend := asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	start, limited := time.Now(), 0
	for i := range 1000 {
		r := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic "+strconv.Itoa(i))
		if _, _, err := r.Who(t.Context()); errors.Is(err, ask.ErrTooMany) {
			limited++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	bound := 122 + int(2*time.Since(start).Seconds()) // 120 a minute come back
	if n := len(backend.Questions()); n > bound || n+limited != 1000 {
		t.Errorf("%d questions of at most %d, %d calls limited", n, bound, limited)
	}
	other := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
	other.Client = netip.MustParseAddr("192.0.2.8")
	if _, _, err := other.Who(t.Context()); err != nil {
		t.Errorf("another client: %v", err)
	}
}

func TestIdentities_AnswerOfBeforeADropIsNotKept(t *testing.T) {
	s := newSite(t)
	backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		s.Identities.drop(t.Context(), s.Store, dropping{whom: dropUser, user: 1})
		return asktest.JSON(200, adminBody), nil
	}}
	for range 2 {
		if _, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestAddressKey(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7",
		"2001:db8::1": "2001:db8::/64", "2001:db8::ffff:1": "2001:db8::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := AddressKey(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func BenchmarkWho_Warm(b *testing.B) {
	s := newSite(b)
	r := request(b, s, asktest.Answering(200, adminBody), "GET", "/wp-json/wp/v2/posts", "", loginLine, nonceLine)
	b.ReportAllocs()
	for b.Loop() {
		r := r.again()
		if c, _, err := r.Who(b.Context()); err != nil || c.Kind != User {
			b.Fatal(fmt.Sprint(c, err))
		}
	}
}

// TestWho_OwnCookies: cookies that the configuration names are read as PHP reads them.
func TestWho_OwnCookies(t *testing.T) {
	for cookie, want := range map[string]Kind{
		"sso=v": User, `sso={"u":1}`: User, `sso=a\b`: User, "sso=\xff": User, "a=b; sso=": User, "sso2=v": Anonymous, "so=v": Anonymous,
	} {
		s := newSite(t, Own{Cookies: []string{"sso"}})
		r := request(t, s, asktest.Answering(200, adminBody), "GET", "/wp-json/wp/v2/posts", "", "Cookie: "+cookie)
		if caller, _, err := r.Who(t.Context()); err != nil || caller.Kind != want || s.HasCredentials(r.HTTP) != (want == User) {
			t.Errorf("%q: %v, %v", cookie, caller.Kind, err)
		}
	}
	for _, cookie := range []string{"my.auth=v", "my[auth=v", "my auth=v", "%6dy_auth=v", "my_auth[x]=v"} {
		s := newSite(t, Own{Cookies: []string{"my_auth"}})
		r := request(t, s, asktest.Answering(200, adminBody), "GET", "/wp-json/wp/v2/posts", "", "Cookie: "+cookie)
		var refusal *call.Refusal
		if _, _, err := r.Who(t.Context()); !errors.As(err, &refusal) || !s.HasCredentials(r.HTTP) {
			t.Errorf("%q: %v", cookie, err)
		}
	}
}
