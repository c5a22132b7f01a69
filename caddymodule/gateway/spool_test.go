package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestSpoolDir_Unusable: a configuration with no directory to spool to does not load. The
// error names the line and the path.
func TestSpoolDir_Unusable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	t.Setenv("TMPDIR", gone)
	for option, want := range map[string]string{
		"":                                   gone,
		"spool_dir " + gone:                  gone,
		"spool_dir " + file:                  file,
		"spool_dir {env.RESTWARDEN_NOT_SET}": "RESTWARDEN_NOT_SET",
		"spool_dir " + dir:                   "",
	} {
		got := adaptAndProvision(t, "http://localhost:8080 {\n\trestwarden cms {\n\t\t"+option+"\n\t}\n}\n")
		if refused := strings.HasPrefix(got, "restwarden: spool_dir: ") && strings.HasSuffix(got, ", at Caddyfile:2"); refused != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%q: %s", option, got)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "restwarden-*"))
	if len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func loginOnlyWith(options ...string) string {
	return strings.Replace(loginOnly, "login_only", "login_only\n\t\t"+strings.Join(options, "\n\t\t"), 1)
}

// TestSpoolDir_Cause: a disk that keeps no body is an ERROR with a word of its own, since a machine
// is broken and no client is at fault. The log says why.
func TestSpoolDir_Cause(t *testing.T) {
	p := newPlatform(t)
	dir := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, loginOnlyWith("spool_dir "+dir)+p.proxied())
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	g.do("POST /page", "a="+strings.Repeat("x", 100_000), form).want(t, 503, "rest_policy_unavailable")
	eventually(t, "a log line", func() bool { return strings.Contains(g.logged(), "request refused") })
	for _, want := range []string{`"level":"error"`, `"rule":"disk"`, `disk: open ` + dir, "no such file or directory"} {
		if !strings.Contains(g.logged(), want) {
			t.Errorf("no %s in %s", want, g.logged())
		}
	}
}

// trickle sends the first n bytes of an upload of size bytes, and the rest a byte at a time
// until the test ends.
func (g *gateway) trickle(client string, n, size int) {
	conn, err := new(net.Dialer).DialContext(g.t.Context(), "tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	g.t.Cleanup(func() { cancel(); _ = conn.Close() })
	go func() {
		_, _ = fmt.Fprintf(conn, "POST /page HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: %d\r\n\r\n%s",
			client, size, strings.Repeat("x", n))
		for ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			if _, err := io.WriteString(conn, "x"); err != nil {
				return // it is refused
			}
		}
	}()
}

// TestSpool_Fair: uploads that trickle to one site take the share of that site and of their
// clients. Forms of another site's clients pass, and so do those of another client of the
// same site where one client alone fills up its share.
func TestSpool_Fair(t *testing.T) {
	p := newPlatform(t)
	site := loginOnlyWith("spool_limit 16MiB") + p.proxied() // a site: 4 MiB, a client: 2 MiB
	large := "a=" + strings.Repeat("x", 400_000)
	for name, c := range map[string]struct {
		clients          []string
		refused, passing []string // client and site
	}{
		"one client":   {[]string{"192.0.2.1"}, []string{"192.0.2.1 0", "192.0.2.1 1"}, []string{"192.0.2.3 0", "192.0.2.3 1"}},
		"many clients": {[]string{"192.0.2.1", "192.0.2.2", "192.0.2.4", "192.0.2.5"}, []string{"192.0.2.3 0"}, []string{"192.0.2.3 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := startFile(t, &caddyrun.File{Global: caddyrun.TrustLoopback, Sites: []caddyrun.Site{{Body: site}, {Body: site}}})
			const each = 1<<20 - 64<<10
			kept := 2 * min(len(c.clients), 2)
			for i := range 20 { // before there were shares, sixteen filled the spool for all
				g.trickle(c.clients[i/2%len(c.clients)], 1<<20, 1<<20+1000)
				if n := i + 1; n <= kept { // of several at once, each may be refused for what the others hold
					eventually(t, "an upload has its part", func() bool { return pool.SpooledBytes() > float64(n*each-50_000) })
				}
			}
			send := func(who string) int {
				client, number, _ := strings.Cut(who, " ")
				other := *g
				other.url = "http://" + g.file.Sites[int(number[0]-'0')].Address
				return other.do("POST /page", large, form, "X-Forwarded-For: "+client).status
			}
			for _, who := range c.refused { // no room is left for a large form
				eventually(t, who+" is refused", func() bool { return send(who) == http.StatusServiceUnavailable })
			}
			for _, who := range c.passing {
				if got := send(who); got != http.StatusOK {
					t.Errorf("client and site %s: got %d", who, got)
				}
			}
		})
		eventually(t, "all is given back", func() bool { return pool.SpooledBytes() == 0 })
	}
}

// TestIdentity_Accepted: credentials that the platform accepts use up no limit, and forged
// ones are limited as soon as they exceed it.
func TestIdentity_Accepted(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		user, _, _ := r.BasicAuth()
		if !isQuestion(r) || !strings.HasPrefix(user, "editor") {
			return false
		}
		_, _ = fmt.Fprintf(w, `{"id":1%s,"roles":["editor"],"capabilities":{"edit_posts":true}}`, strings.TrimPrefix(user, "editor"))
		return true
	})
	g := startGateway(t, loginOnlyWith("identity {\nrate 5/1h\nttl 1ms\n}")+p.proxied())
	polls := func() {
		t.Helper()
		for range 3 {
			for n := range 40 {
				if got := g.do("GET /cms-json/cms/v2/posts", "", basicAuth(fmt.Sprintf("editor%d:pw", n))); got.status != 200 {
					t.Fatalf("editor %d: %d %s", n, got.status, got.body)
				}
			}
		}
	}
	polls()
	for n := range 5 {
		g.do("GET /cms-json/cms/v2/posts", "", basicAuth(fmt.Sprintf("admin:forged%d", n))).want(t, 401, "incorrect_password")
	}
	g.do("GET /cms-json/cms/v2/posts", "", basicAuth("admin:forged5")).want(t, 429, "rest_too_many_requests")
	polls()
}
