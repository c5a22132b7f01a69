package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/pool"
)

const loginOnly = `	restwarden cms {
		login_only
		allow anyone POST /complianz/v1/track
		redact /feed/options access_token
	}
`

func TestGateway_AnonymousIsRefusedInEverySpelling(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	for name, send := range map[string]func() reply{
		"pretty": func() reply { return g.do("GET /cms-json/cms/v2/users", "") },
		"query":  func() reply { return g.do("GET /?rest_route=/cms/v2/users", "") },
		"folded": func() reply { return g.do("GET /shop/x?rest.route=/cms/v2/users", "") },
		"form":   func() reply { return g.do("POST /", "rest_route=/cms/v2/users", form) },
		"chunked": func() reply {
			return g.send("POST /", io.MultiReader(strings.NewReader("rest_route=/cms/v2/users")), form)
		},
		"upper":    func() reply { return g.do("GET /cms-json/CMS/V2/USERS", "") },
		"override": func() reply { return g.do("POST /cms-json/cms/v2/users?_method=GET", "") },
	} {
		r := send()
		if r.status != http.StatusUnauthorized || !strings.Contains(r.body, `"code":"rest_not_logged_in"`) ||
			!strings.Contains(r.body, `"data":{"status":401}`) {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/json; charset=UTF-8" {
			t.Errorf("%s: %v", name, r.header)
		}
	}
	if seen := p.received(); len(seen) > 0 {
		t.Errorf("reached the platform: %q", seen)
	}
	if asked := p.asked(); len(asked) > 0 {
		t.Errorf("%d questions about an anonymous caller", len(asked))
	}
}

func TestGateway_CallersPass(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	g.do("POST /cms-json/complianz/v1/track", `{"a":1}`, "Content-Type: application/json").want(t, 200, `"body":"{\"a\":1}"`)
	g.do("GET /cms-json/complianz/v1/track", "").want(t, 401, "rest_not_logged_in")
	g.do("GET /cms-json/cms/v2/users", "", asAdmin).want(t, 200, "/cms/v2/users")
	g.do("GET /?rest_route=/cms/v2/users", "", asAdmin).want(t, 200, "/cms/v2/users")
	g.do("HEAD /cms-json/cms/v2/users", "").want(t, 401, "")

	wrong := g.do("GET /cms-json/cms/v2/users", "", asWrong)
	wrong.want(t, 401, `"code":"incorrect_password"`)
	if wrong.header.Get("Www-Authenticate") != "" || wrong.header.Get("Set-Cookie") != "" || wrong.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the one answer to refused log-ins: %v", wrong.header)
	}
	if n := len(p.asked()); n != 3 {
		t.Errorf("%d questions, want one for each caller and form", n)
	}
}

func TestGateway_Foreign(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden wordpress\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 503, "rest_policy_unavailable")
	if log := g.logged(); !strings.Contains(log, `"level":"error"`) || !strings.Contains(log, "check the platform named behind restwarden") {
		t.Error(log)
	}
}

func TestGateway_Observe(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\tmode observe\n\t\tbody_limit 10B", 1)+p.proxied())
	g.do("GET /cms-json/cms/v2/users", "").want(t, 200, "/cms/v2/users")
	g.do("GET /cms-json/feed/options", "").want(t, 200, "t0ken")
	long := "rest_route=/cms/v2/posts&x=" + strings.Repeat("y", 100)
	g.do("POST /", long, form).want(t, 200, long)
	if log := g.logged(); strings.Count(log, `"outcome":"would_refuse"`) != 3 || strings.Contains(log, `"outcome":"refused"`) {
		t.Error(log)
	}
}

func TestGateway_Bodies(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trequest_body {\n\t\tmax_size 200KB\n\t}\n\trestwarden cms {\n\t\tbody_limit 100KB\n\t}\n"+p.proxied())
	body := "title=" + strings.Repeat("x", 90_000) // spooled
	g.do("POST /cms-json/cms/v2/posts", body, form).want(t, 200, body)
	g.send("POST /a-page", io.MultiReader(strings.NewReader(body)), form).want(t, 200, body)
	p.received()
	g.do("POST /?rest_route=/cms/v2/posts", strings.Repeat("x", 150_000), form).want(t, 413, "rest_request_too_large")
	if r := g.send("POST /a-page", io.MultiReader(strings.NewReader(strings.Repeat("x", 300_000))), form); r.status != 413 {
		t.Errorf("over request_body's limit: %d", r.status)
	}
	if seen := p.received(); len(seen) > 0 {
		t.Errorf("reached the platform: %d", len(seen))
	}
	if n := pool.SpooledBytes(); n != 0 {
		t.Errorf("%v bytes are still spooled", n)
	}
}

func TestGateway_Preflight(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	preflight := []string{"Origin: https://app.test", "Access-Control-Request-Method: POST"}
	r := g.do("OPTIONS /cms-json/cms/v2/posts", "", preflight...)
	if r.status != 200 || r.body != "" || len(p.received()) != 1 {
		t.Errorf("%d %q", r.status, r.body)
	}
	if r.header.Get("Allow") != "" {
		t.Errorf("the answer tells of the route: %v", r.header)
	}
	g.do("OPTIONS /cms-json/cms/v2/posts", "").want(t, 401, "")
	g.do("OPTIONS /cms-json/cms/v2/posts?_method=GET", "", preflight...).want(t, 401, "")
	g.do("GET /cms-json/cms/v2/posts?_method=OPTIONS", "", preflight...).want(t, 401, "")
	g.do("OPTIONS /cms-json/cms/v2/posts", "", append(preflight, asWrong)...).want(t, 401, "incorrect_password")
}

// TestGateway_PreflightAlone: a preflight brings nothing but its route to the platform, and counts
// against the limits of the route.
func TestGateway_PreflightAlone(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t\trate_limit 4/1h POST /cms/v2/posts\n\t}\n"+p.proxied())
	preflight := []string{"Origin: https://app.test", "Access-Control-Request-Method: GET"}
	for target, want := range map[string]string{
		"/cms-json/cms/v2/posts?email=a@b.test&x[]=1":              "/cms-json/cms/v2/posts",
		"/?a=1&rest_route=/cms/v2/posts&email=a@b.test":            "/?rest_route=/cms/v2/posts",
		"/index.php?rest_route=%2Fcms%2Fv2%2Fposts&context=edit&x": "/index.php?rest_route=%2Fcms%2Fv2%2Fposts",
		"/cms-json/cms/v2/posts":                                   "/cms-json/cms/v2/posts",
	} {
		g.do("OPTIONS "+target, `{"email":"a@b.test"}`, preflight...).want(t, 200, "")
		if seen := p.received(); len(seen) != 1 || seen[0] != "OPTIONS "+want+" " {
			t.Errorf("%s: the platform got %q", target, seen)
		}
	}
	g.do("OPTIONS /cms-json/cms/v2/posts", "", preflight...).want(t, 429, "rest_too_many_requests")
	if seen := p.received(); len(seen) > 0 {
		t.Errorf("reached the platform: %q", seen)
	}
	g.do("OPTIONS /cms-json/cms/v2/pages", "", preflight...).want(t, 200, "") // another route
}

func TestGateway_CORS(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	h := g.do("GET /cms-json/cms/v2/posts", "", "Origin: https://app.test").header
	if h.Get("Access-Control-Allow-Origin") != "https://app.test" || h.Get("Vary") != "Origin" ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "X-CMS-Nonce") {
		t.Error(h)
	}
	if h := g.do("GET /cms-json/cms/v2/posts", "").header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Error(h)
	}
	if h := g.do("GET /cms-json/shop/store/cart", "", "Origin: https://app.test").header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a cart for scripts of any origin: %v", h)
	}
}

// TestGateway_MemoryIsNobodysToEmpty: a request that anybody can send drops no caller,
// whatever the platform answers to it.
func TestGateway_MemoryIsNobodysToEmpty(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) || !strings.Contains(r.URL.Path, ".php") {
			return false
		}
		io.WriteString(w, "<html>a form, or the front page")
		return true
	})
	g := startGateway(t, loginOnly+p.proxied())
	me := func() { g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "") }
	me()
	before := len(p.asked())
	for _, line := range []string{"POST /cms-login.php", "POST /x/users.php", "POST /cms-admin/users.php", "POST /x/cms-admin/profile.php", "GET /cms-admin/users.php?action=x", "POST /cms-admin/admin-ajax.php"} {
		body := ""
		if strings.HasPrefix(line, "POST") {
			body = "log=x&action=destroy-sessions&user_id=1"
		}
		g.do(line, body, form, "Cookie: x-resetpass-y=1; cms_logged_in_x=1").want(t, 200, "a form")
		me()
	}
	if after := len(p.asked()); after != before {
		t.Errorf("%d questions more", after-before)
	}
}

// TestGateway_RedirectsEmptyNothing: a server that redirects everybody has changed nobody's rights,
// whatever it is asked for. The question about a caller is sent before the caller's write.
func TestGateway_RedirectsEmptyNothing(t *testing.T) {
	p := newPlatform(t)
	var wrote, late atomic.Bool
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case isQuestion(r):
			late.CompareAndSwap(false, wrote.Load())
			return false
		case r.Method == http.MethodGet:
			return false
		case r.Header.Get("Authorization") == "":
			w.Header().Set("Location", "http://www.shop.example"+r.URL.RequestURI())
			w.WriteHeader(http.StatusMovedPermanently)
			return true
		}
		wrote.Store(true)
		return false
	})
	g := startGateway(t, "\trestwarden cms {\n\t\tallow users GET /**\n\t}\n"+p.proxied())
	admin := func() { g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "") }
	admin()
	before := len(p.asked())
	for _, line := range []string{"POST /cms-json/cms/v2/users/me", "POST /cms-json/cms/v2/users/me/application-passwords", "DELETE /cms-json/cms/v2/users/1/application-passwords", "POST //cms-admin/users.php?updated=1"} {
		g.do(line, "{}", jsonBody, "Cookie: cms_logged_in_x=1").want(t, 301, "")
		admin()
	}
	if after := len(p.asked()); after != before {
		t.Errorf("%d questions more", after-before)
	}
	g.do("POST /cms-json/cms/v2/users/me", "{}", jsonBody, "Authorization: Basic Y3VzdG9tZXI6cHc=").want(t, 200, "")
	if !wrote.Load() || late.Load() || len(p.asked()) != before+1 {
		t.Errorf("written: %t, asked too late: %t, %d questions more", wrote.Load(), late.Load(), len(p.asked())-before)
	}
}

// TestGateway_OneClientOfMany: requests with the login of one user are one client,
// whatever else they carry.
func TestGateway_OneClientOfMany(t *testing.T) {
	g := startGateway(t, "\trestwarden cms {\n\t\trate_limit 3/1h per key /cms/v2/posts\n\t}\n"+newPlatform(t).proxied())
	for i, auth := range []string{"Basic YWRtaW46cHc=", "basic YWRtaW46cHc=", "BASIC YWRtaW46cHc=", "Basic YWRtaW46cHc=", "Basic YWRtaW46cHc= "} {
		want := map[bool]int{true: 200, false: 429}[i < 3]
		g.do("GET /cms-json/cms/v2/posts", "", "Authorization: "+auth, fmt.Sprintf("Cookie: cms_x=%d", i)).want(t, want, "")
	}
}
