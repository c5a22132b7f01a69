//go:build wordpress && frankenphp

package wordpress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFrankenPHP_Waiting: a call whose question waits for the only thread waits as it would
// without the gateway, also longer than timeout. A call that needs no question and is refused
// never waits.
func TestFrankenPHP_Waiting(t *testing.T) {
	s := setUps(t)
	site := s.site(franken)
	const busy, timeout = 6 * time.Second, 2 * time.Second
	script := filepath.Join(site.Root, "busy.php")
	if err := os.WriteFile(script, fmt.Appendf(nil, "<?php sleep(%d);", busy/time.Second), 0o644); err != nil {
		t.Fatal(err)
	}
	g, _ := s.frankenGate(t, "shop.example.com {\n\troot "+site.Root+"\n\trestwarden wordpress {\n\tidentity {\n\ttimeout 2s\n\t}\n\t}\n\tphp_server\n}\n", site)
	admin, editor := site.Accounts["administrator"], site.Accounts["editor"]
	c := count(t)
	me := func(as *account) request { return request{path: "/wp-json/wp/v2/users/me", as: as} }
	c.check("before", answersTo(t.Context(), g, me(&admin), "200"))
	done := make(chan error, 1)
	go func() { done <- answersTo(t.Context(), g, request{path: "/busy.php"}, "200") }()
	time.Sleep(busy / 10) // until the thread has it
	started := time.Now()
	c.check("a refusal waits for nothing", answersTo(t.Context(), g, me(nil), notLoggedIn))
	if took := time.Since(started); took > timeout/2 {
		c.failf("a refusal", "it took %s", took)
	}
	started = time.Now()
	c.check("a caller who is asked about", answersTo(t.Context(), g, me(&editor), "200"))
	if took := time.Since(started); took < timeout {
		c.failf("a caller who is asked about", "the answer took %s, timeout is %s", took, timeout)
	}
	c.check("the request that was in the way", <-done)
	c.check("after", answersTo(t.Context(), g, me(&editor), "200"))
}

// TestFrankenPHP_ShortBody: FrankenPHP runs a call whose body breaks off as if it were whole.
// Behind the gateway it does not run.
func TestFrankenPHP_ShortBody(t *testing.T) {
	s := setUps(t)
	bare, c := s.gate(franken, modeBare), count(t)
	c.check("bare", s.sendShort(t.Context(), bare, true))
	for _, mode := range []string{modeDefault, modeLocked} {
		c.check(mode, s.sendShort(t.Context(), s.gate(franken, mode), false))
	}
}

// sendShort sends a form whose end is missing. The call runs, or does not.
func (s *stack) sendShort(ctx context.Context, g *gate, runs bool) error {
	m := message{
		method: http.MethodPost, target: fmt.Sprintf("/wp-json/wc/v3/orders/%d", g.Site.Orders[1]), as: "administrator",
		headers: []string{formType}, body: "customer_note=short&pad=" + strings.Repeat("x", 5500),
	}
	tag := fmt.Sprintf("short-%d", g.Port)
	length := func(n int) []byte { return fmt.Appendf(nil, "Content-Length: %d\r\n", n) }
	raw := bytes.Replace(m.render(g, tag), length(len(m.body)), length(len(m.body)+500), 1)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", g.host())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it has been read
	if _, err := conn.Write(raw); err != nil {
		return err
	}
	err = errors.Join(conn.(*net.TCPConn).CloseWrite(), conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	answer, readErr := io.ReadAll(conn)
	if err = errors.Join(err, readErr); err != nil {
		return err
	}
	// PHP may go on without its client; the only thread takes the next request when it has ended.
	if err := answersTo(ctx, s.gate(franken, modeBare), request{path: "/?rest_route=/"}, "200"); err != nil {
		return err
	}
	seen, err := s.readTrace(tag)
	if err == nil && seen.ran(strings.TrimPrefix(m.target, "/wp-json")) != runs {
		err = fmt.Errorf("WordPress ran: %s\nthe answer: %.300q", seen.describe(), answer)
	}
	return err
}
