package gateway

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/caller"
)

func TestGateway_PHPFastCGI(t *testing.T) {
	p := newPlatform(t)
	address := p.fastCGI(t)
	g := startGateway(t, loginOnly+"\troot * "+t.TempDir()+"\n\tphp_fastcgi "+address+" {\n\t\ttry_files {path} index.php\n\t}")
	g.do("GET /cms-json/cms/v2/users", "").want(t, 401, "rest_not_logged_in")
	g.do("GET /?rest_route=/cms/v2/users", "").want(t, 401, "rest_not_logged_in")
	g.do("GET /cms-json/cms/v2/users", "", asAdmin).want(t, 200, `"route":"/cms/v2/users"`)
	g.do("POST /cms-json/cms/v2/posts", `{"title":"x"}`, asAdmin, "Content-Type: application/json").want(t, 200, `title`)
	g.send("POST /cms-json/cms/v2/posts", io.MultiReader(strings.NewReader("title=x")), asAdmin, form).want(t, 200, `"body":"title=x"`)
	g.do("GET /a-page", "").want(t, 200, "a-page")
}

func TestGateway_Encode(t *testing.T) {
	p := newPlatform(t)
	p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"x"`)
		_, _ = fmt.Fprintf(w, `{"access_token":"t0ken","x":%q}`, strings.Repeat("x", 2000))
	})
	g := startGateway(t, loginOnly+"\tencode gzip\n"+p.proxied())
	plain := g.do("GET /cms-json/feed/options", "", asAdmin, "Accept-Encoding: gzip")
	plain.want(t, 200, `"access_token":"[redacted]"`)
	if plain.header.Get("Etag") != "" || plain.header.Get("Content-Length") != fmt.Sprint(len(plain.body)) {
		t.Error(plain.header)
	}
	if h := g.do("GET /a-page", "", "Accept-Encoding: gzip").header; h.Get("Content-Encoding") != "gzip" {
		t.Error(h)
	}
}

// TestGateway_RedactHead: an answer to HEAD has no body, so that its length must not be
// stated.
func TestGateway_RedactHead(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	if r := g.do("HEAD /cms-json/feed/options", "", asAdmin); r.status != 200 || r.header.Get("Content-Length") == "0" {
		t.Error(r)
	}
}

// TestForward_Empty: a handler that writes nothing has answered too.
func TestForward_Empty(t *testing.T) {
	g := provisioned(t, `{"platform":"cms"}`)
	w := httptest.NewRecorder()
	r := prepared(w, "/cms-json/x/v1/y", "Authorization", "Bearer x")
	if err := g.ServeHTTP(w, r, behind); err != nil || w.Header().Get("Cache-Control") != "no-store" {
		t.Error(err, w.Header())
	}
}

// TestGateway_Redact: what the client gets for answers that are not as the gateway asked
// for.
func TestGateway_Redact(t *testing.T) {
	secret := `{"access_token":"t0ken"}`
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		status int
	}{
		"gzip unasked": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, secret)
			_ = z.Close()
		}, 200},
		"other encoding": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, secret)
		}, 503},
		"too large": {func(w http.ResponseWriter) {
			_, _ = fmt.Fprintf(w, `{"x":%q,"access_token":"t0ken"}`, strings.Repeat("x", rewriteLimit))
		}, 503},
		"not JSON":   {func(w http.ResponseWriter) { _, _ = io.WriteString(w, secret+"{") }, 503},
		"head start": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints); _, _ = io.WriteString(w, secret) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Set-Cookie", "kept=1")
				c.answer(w)
			})
			g := startGateway(t, "\trestwarden cms {\n\t\tredact /feed/options access_token\n\t}\n"+p.proxied())
			r := g.do("GET /cms-json/feed/options", "", "Range: bytes=0-3")
			if r.status != c.status || strings.Contains(r.body, "t0ken") {
				t.Errorf("%d %.200s", r.status, r.body)
			}
			if kept := r.header.Get("Set-Cookie") != ""; kept != (c.status == 200) {
				t.Error(r.header)
			}
		})
	}
}

func TestGateway_StripQuery(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden cms {\n\t\tstrip_query lang /cms/v2/posts\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts?a=%31&lang=de&b=2", "")
	g.do("GET /cms-json/cms/v2/pages?lang=de", "")
	g.do("GET /?lang=de", "")
	got := strings.Join(p.received(), "\n")
	want := "GET /cms-json/cms/v2/posts?a=%31&b=2 \nGET /cms-json/cms/v2/pages?lang=de \nGET /?lang=de "
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestGateway_Revocation: a request that ends somebody's rights drops the remembered
// caller.
func TestGateway_Revocation(t *testing.T) {
	p := newPlatform(t)
	var revoked atomic.Bool
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			revoked.Store(true)
		}
		if !revoked.Load() || !isQuestion(r) {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"incorrect_password"}`)
		return true
	})
	g := startGateway(t, loginOnly+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
	g.do("DELETE /cms-json/cms/v2/users/1/application-passwords/x", "", asAdmin).want(t, 200, "")
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 401, "incorrect_password")
}

// TestGateway_LoggedOutElsewhere: the body of the answer says whether the action worked,
// in whatever pieces it comes.
func TestGateway_LoggedOutElsewhere(t *testing.T) {
	const page, done, failed = "action=destroy-sessions&nonce=1&user_id=1", `{"success":true,"data":{}}`, `{"success":false,"data":{}}`
	const cookie, nonce, asForm = "Cookie: cms_logged_in_x=a", "X-CMS-Nonce: 1", "Content-Type: application/x-www-form-urlencoded"
	for name, test := range map[string]struct {
		body  []string // in the pieces in which it is written, with flushes
		form  string
		asked int
	}{
		"done":              {[]string{done}, page, 2},
		"in pieces":         {[]string{`{"succ`, `ess":t`, `rue}`}, page, 2},
		"with much behind":  {[]string{done, strings.Repeat(" ", 100_000)}, page, 2},
		"failed":            {[]string{failed}, page, 1},
		"said further down": {[]string{failed, strings.Repeat(" ", caller.WatchedBody), done}, page, 1},
		"nothing":           {nil, page, 1},
		"another action":    {[]string{done}, "action=heartbeat", 1},
		"in a large form":   {[]string{done}, page + "&x=" + strings.Repeat("x", 20_000), 1},
	} {
		for _, length := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " length ", length), func(t *testing.T) {
				p := newPlatform(t)
				asked := 0
				got := ""
				p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
					switch {
					case isQuestion(r) && strings.Contains(r.URL.Path, "users/me"):
						asked++
						_, _ = io.WriteString(w, `{"id":1,"roles":["customer"],"capabilities":[]}`)
						return true
					case strings.HasSuffix(r.URL.Path, "admin-ajax.php") && r.Method == http.MethodPost:
						b, _ := io.ReadAll(r.Body)
						got = string(b)
						for _, piece := range test.body {
							_, _ = io.WriteString(w, piece)
							w.(http.Flusher).Flush()
						}
						return true
					}
					return false
				})
				g := startGateway(t, loginOnly+p.proxied())
				g.do("GET /cms-json/cms/v2/posts", "", cookie, nonce).want(t, 200, "")
				var body io.Reader = strings.NewReader(test.form)
				if !length {
					body = struct{ io.Reader }{body}
				}
				a := g.send("POST /cms-admin/admin-ajax.php", body, cookie, asForm)
				if a.want(t, 200, ""); a.body != strings.Join(test.body, "") || got != test.form {
					t.Errorf("arrived %.80q, answered %.80q", got, a.body)
				}
				g.do("GET /cms-json/cms/v2/posts", "", cookie, nonce).want(t, 200, "")
				if asked != test.asked {
					t.Errorf("asked %d times, want %d", asked, test.asked)
				}
			})
		}
	}
}

func TestGateway_Streaming(t *testing.T) {
	p := newPlatform(t)
	release := make(chan struct{})
	p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	g := startGateway(t, "\trestwarden cms {\n\t\tsession_cookies {\n\t\t\tpath /\n\t\t}\n\t}\n"+p.proxied())
	for _, target := range []string{"/events", "/cms-json/x/v1/events"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+target, nil)
		req.Header.Set("Authorization", "Bearer x")
		res, err := httpClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "first\n" {
			t.Errorf("%s: %q %v", target, line, err)
		}
		release <- struct{}{}
		_ = res.Body.Close()
	}
}

func TestGateway_WebSocket(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Upgrade") == "" {
			return false
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return true
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
		return true
	})
	g := startGateway(t, "\trestwarden cms {\n\t\tsession_cookies {\n\t\t\tpath /\n\t\t}\n\t}\n"+p.proxied())
	const upgrade = " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	for target, want := range map[string]string{"/socket": "HTTP/1.1 101", "/cms-json/x/v1/y": "HTTP/1.1 400"} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(conn, "GET "+target+upgrade)
		r := bufio.NewReader(conn)
		status, _ := r.ReadString('\n')
		if !strings.HasPrefix(status, want) {
			t.Errorf("%s: %s", target, status)
			continue
		}
		if target != "/socket" {
			continue
		}
		_, _ = io.WriteString(conn, "hello\n")
		for line := ""; line != "echo hello\n"; {
			if line, err = r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGateway_EnforcedRedaction: a policy that enforces redacts although the directive
// observes.
func TestGateway_EnforcedRedaction(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden cms {\n\t\tmode observe\n\t\tlogin_only\n\t\tredact /feed/options access_token\n"+
		"\t\tredact {\n\t\t\tmode enforce\n\t\t}\n\t}\n"+p.proxied())
	if r := g.do("GET /cms-json/feed/options", ""); r.status != 200 || strings.Contains(r.body, "t0ken") || !strings.Contains(r.body, "[redacted]") {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

// TestGateway_ObservedPolicies: a policy that observes changes nothing although the
// directive enforces.
func TestGateway_ObservedPolicies(t *testing.T) {
	p := newPlatform(t)
	observe := " {\n\t\t\tmode observe\n\t\t}\n"
	g := startGateway(t, "\trestwarden cms {\n\t\tredact /feed/options access_token\n\t\tredact"+observe+
		"\t\tstrip_query lang /feed/options\n\t\tstrip_query"+observe+"\t\tlogin_only\n\t\taccess"+observe+"\t}\n"+p.proxied())
	g.do("GET /cms-json/feed/options?lang=de", "").want(t, 200, "t0ken")
	if seen := p.received(); len(seen) != 1 || seen[0] != "GET /cms-json/feed/options?lang=de " {
		t.Errorf("%q", seen)
	}
	if !strings.Contains(g.logged(), `"outcome":"would_refuse"`) {
		t.Error(g.logged())
	}
}
