package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// behind is a site as users have it: compression, access log, handle blocks.
const behind = `encode gzip
	log
	handle_path /nowhere/* {
		respond "elsewhere"
	}
	handle {
		PROXY
	}`

// isWho tells whether r asks who is calling.
func isWho(r *http.Request) bool {
	return r.Header.Get(mark) == "" && strings.Contains(r.URL.String(), "users%2Fme") || strings.Contains(r.URL.Path, "/users/me") && r.Header.Get(mark) == ""
}

// whoAnswers replaces the platform's answer to the question about the caller.
func (w *world) whoAnswers(answer func(http.ResponseWriter, *http.Request)) {
	w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
		if !isWho(r) {
			return false
		}
		rw.Header().Set("Set-Cookie", "leak=1")
		rw.Header().Set("X-Leak", "1")
		answer(rw, r)
		return true
	})
}

func says(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw answers with exactly these bytes and ends the connection.
func raw(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
}

// TestIdentity_Answers: each kind of answer to "who is calling", one by one.
func TestIdentity_Answers(t *testing.T) {
	user := `{"id":1,"roles":["administrator"],"capabilities":{"read":true}}`
	const pass, anonymous = "passed 201", "401 rest_not_logged_in"
	const blocked = "403 " // the call itself would get the firewall's page
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"user":           {says(200, user), pass},
		"anonymous":      {says(401, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`), anonymous},
		"bad nonce":      {says(400, `{"code":"rest_cookie_invalid_nonce","message":"own words","data":{"status":400}}`), "400 rest_cookie_invalid_nonce"},
		"bad nonce, 403": {says(403, `{"code":"rest_cookie_invalid_nonce","message":"own words","data":{"status":403}}`), "403 rest_cookie_invalid_nonce"},
		"bad password":   {says(401, `{"code":"incorrect_password","message":"no","data":{"status":401}}`), "401 incorrect_password"},
		"unknown user":   {says(401, `{"code":"invalid_username","message":"no","data":{"status":401}}`), "401 incorrect_password"},
		"late": {func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			says(200, user)(w, r)
		}, pass}, // as the platform alone: the client still waits
		"slow body": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, user[:9])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, user[9:])
		}, pass},
		"gone":             {raw(""), unavailable},
		"truncated":        {raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\nContent-Type: application/json\r\n\r\n" + user), unavailable},
		"truncated chunks": {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(user)), 16) + "\r\n" + user + "\r\n"), unavailable},
		"fault":            {says(500, user), unavailable},
		"maintenance":      {says(503, `{"code":"maintenance"}`), unavailable},
		"not JSON":         {says(200, "<html>"), unavailable},
		"401, not JSON":    {says(401, "<html>"), unavailable},
		"no user":          {says(200, `{"id":0}`), unavailable},
		"a list":           {says(200, `[]`), unavailable},
		"nothing":          {says(200, ""), unavailable},
		"oversized":        {says(200, `{"id":1,"x":"`+strings.Repeat("x", 2<<20)+`"}`), unavailable},
		"redirect":         {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, unavailable},
		"firewall":         {says(403, "Forbidden"), blocked},
		"teapot":           {says(418, user), unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlatform(t, site.Options{Release: "10.7"})
			w.identity = "timeout 5s"
			if name == "late" || name == "slow body" {
				w.identity = "timeout 300ms"
			}
			w.start("login_only", behind)
			w.whoAnswers(c.answer)
			post := func() reply {
				return w.gate("POST /cms-json/cms/v2/posts", `{"title":"a title"}`, w.as("admin"), header("Accept-Encoding", "gzip"))
			}
			r := post()
			if got := outcome(r); got != c.want {
				t.Fatalf("%s (%.200s), want %s", got, r.body, c.want)
			}
			if r.header.Get("Set-Cookie") != "" || r.header.Get("X-Leak") != "" {
				t.Errorf("of the question's answer: %v", r.header)
			}
			switch {
			case strings.Contains(r.body, "own words"):
				if r.header.Get("Cache-Control") != "no-store" {
					t.Error(r.header)
				}
			case c.want == blocked && (r.body != "Forbidden" || r.header.Get("Cache-Control") != "no-store"):
				t.Error(r.body, r.header)
			case c.want == unavailable && r.header.Get("Retry-After") == "":
				t.Error(r.header)
			case c.want == unavailable, c.want == blocked:
				w.gate("GET /", "").want(200).passed() // pages are not affected
				w.gate("GET /cms-json/cms/v2/posts", "").want(401, "rest_not_logged_in")
				w.whoAnswers(says(200, user))
				if r := post(); outcome(r) != pass { // the failure is not remembered
					t.Errorf("afterwards %s %.200s", outcome(r), r.body)
				}
			case c.want == pass:
				if r.at("title", "rendered") != "a title" {
					t.Errorf("the body did not arrive: %s", r.body)
				}
			}
		})
	}
}

func posts(w *world, edits ...edit) reply {
	w.t.Helper()
	return w.gate("GET /cms-json/cms/v2/posts", "", edits...)
}

// TestIdentity_OneQuestion: callers with the same credentials wait for one answer. A
// client that goes away does not take it from the others.
func TestIdentity_OneQuestion(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only", behind)
	asked, release := make(chan struct{}, 100), make(chan struct{})
	w.whoAnswers(func(rw http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release
		w.tap.now().ServeHTTP(rw, r)
	})
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		res, err := httpClient.Do(w.request(w.gateway, "POST /cms-json/cms/v2/posts", `{"title":"gone"}`, w.as("admin")).WithContext(ctx))
		if err == nil {
			_ = res.Body.Close()
		}
		first <- err
	}()
	<-asked
	var others sync.WaitGroup
	statuses := make(chan int, 10)
	for range cap(statuses) {
		req := w.request(w.gateway, "GET /cms-json/cms/v2/posts", "", w.as("admin"))
		others.Go(func() {
			res, err := httpClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			statuses <- res.StatusCode
		})
	}
	leave()
	if err := <-first; err == nil {
		t.Error("the client that went away got an answer")
	}
	close(release)
	others.Wait()
	close(statuses)
	for status := range statuses {
		if status != 200 {
			t.Errorf("status %d", status)
		}
	}
	if _, questions := w.tap.counts(); questions != 1 {
		t.Errorf("%d questions", questions)
	}
}

// TestIdentity_Limits: the questions of one address and those under way are bounded.
func TestIdentity_Limits(t *testing.T) {
	p := newPlatform(t, site.Options{Release: "10.7"})
	p.identity = "rate 3/1h\nmax_in_flight 1\ntimeout 300ms"
	p.start("login_only")
	from := func(address string) edit { return header("X-Forwarded-For", address) }
	forged := func(n int) edit {
		return func(r *http.Request) { r.SetBasicAuth("admin", "forged "+strconv.Itoa(n)) }
	}
	for n := range 3 {
		posts(p, forged(n), from("2001:db8:1:2::"+strconv.Itoa(n+1))).want(401, "incorrect_password")
	}
	r := posts(p, forged(4), from("2001:db8:1:2:ffff::1")).refusedWith(429, "rest_too_many_requests").unasked()
	if r.header.Get("Retry-After") == "" {
		t.Error(r.header)
	}
	posts(p, from("2001:db8:1:2::1")).refusedWith(401, "rest_not_logged_in")     // anonymous calls need no question
	p.gate("GET /", "", forged(5), from("2001:db8:1:2::1")).want(200).passed()   // nor do pages
	posts(p, forged(6), from("2001:db8:1:3::1")).want(401, "incorrect_password") // another network
	posts(p, p.as("admin"), from("192.0.2.1")).want(200).passed()

	blocked := make(chan struct{})
	p.whoAnswers(func(http.ResponseWriter, *http.Request) { <-blocked })
	held := make(chan struct{})
	go func() {
		defer close(held)
		res, err := httpClient.Do(p.request(p.gateway, "GET /cms-json/cms/v2/posts", "", forged(7), from("192.0.2.2")))
		if err == nil {
			_ = res.Body.Close()
		}
	}()
	p.eventually("a question is under way", func() bool { _, n := p.tap.counts(); return n == 6 })
	posts(p, forged(8), from("192.0.2.3")).refusedWith(503, "rest_policy_unavailable") // the other one is late, and has the only place
	close(blocked)
	<-held
}

// TestIdentity_Forged: a hundred thousand forged credentials cause no more questions than
// the bound, and leave no memory behind.
func TestIdentity_Forged(t *testing.T) {
	p := newPlatform(t, site.Options{Release: "10.7"})
	p.identity = "rate 120/1h"
	p.start("login_only")
	posts(p, p.as("admin")).want(200)
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		t.Fatal(err)
	}
	var server *caddyhttp.Server
	for _, s := range app.(*caddyhttp.App).Servers {
		if strings.HasSuffix(p.gateway, s.Listen[0][strings.LastIndex(s.Listen[0], ":"):]) {
			server = s
		}
	}
	if server == nil {
		t.Fatal("no server")
	}
	start, before := time.Now(), heap.Live()
	const forged = 100_000
	counts := map[int]int{}
	for n := range forged {
		r := httptest.NewRequest(http.MethodGet, "/cms-json/cms/v2/posts", nil)
		r.RemoteAddr = "192.0.2.7:4711"
		if n%2 == 0 {
			r.SetBasicAuth("admin", strconv.Itoa(n))
		} else {
			r.Header.Set("Cookie", "cms_logged_in_x=admin%7C9999999999%7C"+strconv.Itoa(n))
			r.Header.Set("X-CMS-Nonce", "0123456789")
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		counts[w.Code]++
	}
	_, questions := p.tap.counts()
	most := 122 + int(2*time.Since(start).Minutes()) // 120 in an hour come back
	if questions > most || counts[http.StatusTooManyRequests] < forged-most {
		t.Errorf("%d questions of at most %d; answers by status %v", questions, most, counts)
	}
	if after := heap.Live(); after > before+8<<20 {
		t.Errorf("%d KiB more than before", (after-before)>>10)
	}
	posts(p, p.as("manager"), header("X-Forwarded-For", "192.0.2.8")).want(200).passed() // others are served
	if n := p.decisions("access", "rest_too_many_requests", "refused"); int(n) != counts[http.StatusTooManyRequests] {
		t.Errorf("%v counted of %v", n, counts)
	}
}
