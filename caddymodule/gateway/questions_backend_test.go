package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/map"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
)

// TestBackend_Panic: a handler that panics on a question breaks nothing else.
func TestBackend_Panic(t *testing.T) {
	g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true}}}`)
	w := httptest.NewRecorder()
	r := prepared(w, "/cms-json/cms/v2/posts", "Authorization", "Basic x")
	err := g.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { panic("broken") }))
	if err != nil || w.Code != http.StatusServiceUnavailable {
		t.Error(err, w.Code)
	}
}

// TestBackend_Queue: a backend that waits in a queue, whatever the context says, holds a request no
// longer than its client waits. The question is counted until it has ended.
func TestBackend_Queue(t *testing.T) {
	g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true}},"identity":{"timeout":"50ms"}}`)
	queue := make(chan struct{})
	registry := prometheus.NewRegistry()
	g.sites[0].metrics = metrics.New(registry, false, g.app.scraped)
	g.sites[0].asks.Left = g.sites[0].metrics.Left
	left := func() float64 { return series(t, registry, "caddy_restwarden_lookups_left") }
	w := httptest.NewRecorder()
	start, r := time.Now(), prepared(w, "/cms-json/cms/v2/posts", "Authorization", "Basic x")
	ctx, goes := context.WithTimeout(r.Context(), 200*time.Millisecond)
	defer goes()
	err := g.ServeHTTP(w, r.WithContext(ctx), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		<-queue
		return nil
	}))
	if err != nil || w.Code != http.StatusServiceUnavailable {
		t.Error(err, w.Code, time.Since(start))
	}
	eventually(t, "a question that nobody waits for", func() bool { return left() == 1 })
	close(queue)
	eventually(t, "the end of the question", func() bool { return left() == 0 })
}

// TestBackend_Request: a question carries exactly the credentials.
func TestBackend_Request(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t\tcredentials header X-Site-Key\n\t\tcredentials cookie site\n\t}\n"+p.proxied())
	g.do("POST /cms-json/cms/v2/posts?_method=PUT&_cmsnonce=n1", "a=b", form,
		"Cookie: cms_logged_in_x=1; tracking=2; site=3", "X-Site-Key: k", "X-CMS-Nonce: n0", "Range: bytes=0-1",
		"If-None-Match: x", "X-HTTP-Method-Override: PUT", "User-Agent: test", "X-Other: y", "Host: shop.test",
		"Cloudfront-Forwarded-Proto: https", "X-Forwarded-Scheme: https")
	asked := p.asked()
	if len(asked) != 1 {
		t.Fatalf("%d questions", len(asked))
	}
	q := asked[0]
	if q.Method != http.MethodGet || freshText.ReplaceAllString(q.RequestURI, "") != "/cms-json/cms/v2/users/me?context=edit&_cmsnonce=n1" || q.Host != "shop.test" {
		t.Errorf("%s %s %s", q.Method, q.RequestURI, q.Host)
	}
	for name, want := range map[string]string{
		"Cookie": "cms_logged_in_x=1; site=3", "X-Site-Key": "k", "X-Cms-Nonce": "n0", "User-Agent": "test",
		"Range": "", "If-None-Match": "", "X-Http-Method-Override": "", "Content-Type": "", "X-Other": "",
		"Cloudfront-Forwarded-Proto": "https", "X-Forwarded-Scheme": "https",
	} {
		if got := q.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestBackend_HandleBlocks: a question must not use up the route group of its request.
func TestBackend_HandleBlocks(t *testing.T) {
	p := newPlatform(t)
	site := loginOnly + "\thandle /cms-json/* {\n\t" + p.proxied() + "\n\t}\n\thandle {\n\t\trespond \"page\"\n\t}"
	g := startGateway(t, site)
	r := g.do("GET /cms-json/cms/v2/users", "", asAdmin)
	r.want(t, 200, `"route":"/cms/v2/users"`)
	r = g.do("POST /cms-json/cms/v2/posts", "title=x", form, asAdmin)
	r.want(t, 200, `"body":"title=x"`)
	g.do("GET /", "").want(t, 200, "page")
}

// TestBackend_Failures: if a needed answer does not come, the call is refused and never
// reaches the platform.
func TestBackend_Failures(t *testing.T) {
	raw := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, text)
				_ = conn.Close()
			}
		}
	}
	user := `{"id":1,"roles":["administrator"]}`
	for name, answer := range map[string]func(http.ResponseWriter){
		"down":      raw(""),
		"truncated": raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\nContent-Type: application/json\r\n\r\n" + user),
		"chunked":   raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n" + user + "\r\n"),
		"nonsense":  func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") },
		"empty":     func(http.ResponseWriter) {},
		"oversized": func(w http.ResponseWriter) {
			_, _ = fmt.Fprintf(w, `{"id":1,"x":%q}`, strings.Repeat("x", questions.AnswerLimit))
		},
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(http.StatusFound) },
		"fault": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, user)
		},
		"forbidden": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code":"firewall"}`)
		},
		"encoded": func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "br"); _, _ = io.WriteString(w, user) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/cms-json/cms/v2/users/me" {
					answer(w)
					return true
				}
				return false
			})
			g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t\tidentity {\n\t\t\ttimeout 500ms\n\t\t}\n\t}\n"+p.proxied())
			r := g.do("GET /cms-json/cms/v2/posts", "", asAdmin)
			r.want(t, 503, `"code":"rest_policy_unavailable"`)
			if r.header.Get("Retry-After") == "" || r.header.Get("Set-Cookie") != "" {
				t.Error(r.header)
			}
			if seen := p.received(); len(seen) > 0 {
				t.Errorf("reached the platform: %q", seen)
			}
			if !strings.Contains(g.logged(), `"error":"who is calling:`) {
				t.Errorf("no reason in the log: %s", g.logged())
			}
			g.do("GET /", "").want(t, 200, "")
		})
	}
}

func TestGateway_OnErrorPass(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if !isQuestion(r) {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t\taccess {\n\t\t\ton_error pass\n\t\t}\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "/cms/v2/posts")
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "")
}

// TestBackend_Cookies: only the question for the cart carries the whole session.
func TestBackend_Cookies(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress","credentials":{"cookies":["site"]}}`)
	r := prepared(httptest.NewRecorder(), "/", "Cookie", "wp_session=1; wordpress_logged_in_a=2; xwordpress_logged_in_=3; \t site=4\u00a0", "Nonce", "n", "Cart-Token", "t")
	var req *http.Request
	b := g.sites[0].asks.Backend(r, varsOf(r), caddyhttp.HandlerFunc(func(w http.ResponseWriter, question *http.Request) error {
		req = question
		w.WriteHeader(http.StatusOK)
		return nil
	}), r.Host, nil)
	r.Method = http.MethodPost
	c := g.sites[0].reader.Read(r, nil)
	t.Cleanup(c.Close)
	whole := &caller.Whole{Site: g.sites[0].Site.Site, Call: c, HTTP: r, Secure: true}
	for _, c := range []struct {
		q             ask.Question
		cookie, nonce string
	}{
		{ask.Question{Kind: ask.KindCart}, r.Header.Get("Cookie"), "n"},
		{ask.Question{Kind: ask.KindCaller}, "wordpress_logged_in_a=2; site=4\u00a0", ""},
		{ask.Question{Kind: ask.KindRecord, As: ask.AsKey, Key: "ck_1:cs_1"}, "", ""},
		{ask.Question{Kind: ask.KindIndex, As: ask.AsNobody}, "", ""},
	} {
		c.q.Route, c.q.Method, c.q.Body = "/x", http.MethodPost, []byte("{}")
		q, err := whole.Question(c.q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if req.Header.Get("Cookie") != c.cookie || req.Header.Get("Nonce") != c.nonce {
			t.Errorf("%s: %v", c.q.Kind, req.Header)
		}
		if asKey := req.Header.Get("Authorization") == "Basic Y2tfMTpjc18x"; asKey != (c.q.As == ask.AsKey) {
			t.Errorf("%s: %v", c.q.Kind, req.Header)
		}
		if req.ContentLength != 2 || req.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: body of %d bytes", c.q.Kind, req.ContentLength)
		}
	}
}

// TestBackend_SiteVars: questions have the variables and placeholders that handlers
// before the gateway set for the site, such as root and map.
func TestBackend_SiteVars(t *testing.T) {
	p := newPlatform(t)
	address := p.fastCGI(t)
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "index.php"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, site := range map[string]string{
		"root":              "\troot * " + root + "\n\tphp_fastcgi " + address + "\n\tfile_server",
		"map":               "\tmap {host} {upstream} {\n\t\tdefault " + strings.TrimPrefix(p.URL, "http://") + "\n\t}\n\treverse_proxy {upstream}",
		"map, in a matcher": "\tmap /cms-json* {host} {tenant} {\n\t\tdefault here\n\t}\n\t@here vars {tenant} here\n\treverse_proxy @here " + strings.TrimPrefix(p.URL, "http://"),
		"map, in not":       "\tmap /cms-json* {host} {tenant} {\n\t\tdefault here\n\t}\n\t@here not expression `{tenant} != \"here\"`\n\treverse_proxy @here " + strings.TrimPrefix(p.URL, "http://"),
		"vars":              "\tvars upstream " + strings.TrimPrefix(p.URL, "http://") + "\n\treverse_proxy {vars.upstream}",
	} {
		t.Run(name, func(t *testing.T) {
			g := startGateway(t, loginOnly+site)
			g.do("GET /cms-json/cms/v2/users", "", asAdmin).want(t, 200, `"route":"/cms/v2/users"`)
		})
	}
}

// TestBackend_TwoSitesBehindOneServer: an answer of one site about a caller does not
// count on another, even if rewrites make their calls alike.
func TestBackend_TwoSitesBehindOneServer(t *testing.T) {
	a, b := newPlatform(t), newPlatform(t)
	b.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) && strings.HasSuffix(r.URL.Path, "/users/me") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"rest_not_logged_in"}`)
			return true
		}
		return false
	})
	site := func(p *platform) string {
		return "restwarden cms {\n\t\tallow role administrator /secret/v1/**\n\t}\n" + p.proxied() + "\n"
	}
	g := startGateway(t, "\thandle_path /a/* {\n"+site(a)+"\t}\n\thandle_path /b/* {\n"+site(b)+"\t}\n")
	g.do("GET /a/cms-json/secret/v1/x", "", asAdmin).want(t, 200, "")
	g.do("GET /b/cms-json/secret/v1/x", "", asAdmin).want(t, 403, "rest_forbidden")
	g = startGateway(t, "\t@a not header Shop b\n\thandle @a {\n"+site(a)+"\t}\n\t@b not header Shop a\n\thandle @b {\n"+site(b)+"\t}\n")
	g.do("GET /cms-json/secret/v1/x", "", asAdmin, "Shop: a").want(t, 200, "")
	g.do("GET /cms-json/secret/v1/x", "", asAdmin, "Shop: b").want(t, 403, "rest_forbidden")
	// One handler of a named route, and another backend behind each place that invokes it.
	invoked := startSites(t, "&(guard) {\n\trestwarden cms {\n\t\tallow role administrator /secret/v1/**\n\t}\n}\n"+
		"http://shop.example:PORT {\n\thandle_path /a/* {\n\t\tinvoke guard\n"+a.proxied()+"\n\t}\n\thandle_path /b/* {\n\t\tinvoke guard\n"+b.proxied()+"\n\t}\n}\n")
	for range 2 {
		invoked.at("shop.example", "GET /a/cms-json/secret/v1/x", "", asAdmin).want(t, 200, "")
		invoked.at("shop.example", "GET /b/cms-json/secret/v1/x", "", asAdmin).want(t, 403, "rest_forbidden")
	}
	asked, answer := make(chan struct{}), make(chan struct{})
	a.setAnswer(func(_ http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) && strings.HasSuffix(r.URL.Path, "/users/me") {
			close(asked)
			<-answer
		}
		return false
	})
	first := make(chan reply, 1)
	go func() { first <- invoked.at("shop.example", "GET /a/cms-json/secret/v1/x", "", asAdmin) }()
	<-asked // while one backend is asked, its answer counts for no other
	invoked.at("shop.example", "GET /b/cms-json/secret/v1/x", "", asAdmin).want(t, 403, "rest_forbidden")
	close(answer)
	(<-first).want(t, 200, "")
}
