package gateway

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/confirming"
)

// TestConfirm_NotTold: a hook that fails is one line of the log, without address and link.
func TestConfirm_NotTold(t *testing.T) {
	for name, hook := range map[string]http.HandlerFunc{
		"answers 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"answers 302": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/h00k2")
			w.WriteHeader(http.StatusFound)
		},
		"cannot be reached": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(hook)
			t.Cleanup(server.Close)
			g := startGateway(t, confirmingSite(newDeletingShop(t), "\t\t\t\tnotify "+server.URL+"/h00k\n", "shop.example.com"))
			g.run().want(t, 403, "rest_confirmation_required")
			eventually(t, "a warning", func() bool { return strings.Contains(g.logged(), name) })
			if text := g.logged(); strings.Count(text, "nobody could be told") != 1 || strings.Contains(text, "h00k") || strings.Contains(text, confirming.Path) {
				t.Errorf("the log has the address or the link: %s", text)
			}
		})
	}
}

// TestConfirm_NoticesEnd: no call waits for a hook that hangs, few notices are under way, and
// none outlives its configuration.
func TestConfirm_NoticesEnd(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	p := newDeletingShop(t)
	g := startGateway(t, confirmingSite(p, "\t\t\t\tnotify "+server.URL+"/h00k\n", "shop.example.com"))
	start := time.Now()
	for i := range confirming.MaxTelling + 2 {
		user := "Authorization: " + basicFor(fmt.Sprintf("user-%d", i/9))
		g.do(runDelete, fmt.Sprintf(`{"input":{"n":%d}}`, i), user, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	}
	if took := time.Since(start); took > confirming.TellTimeout {
		t.Errorf("the calls took %s", took)
	}
	if n := strings.Count(g.logged(), "too many notifications are under way"); n != 2 {
		t.Errorf("%d notices dropped, want 2", n)
	}
	g.load(confirmingSite(p, "", "shop.example.com"))
	eventually(t, "all notices end", func() bool {
		return strings.Count(g.logged(), "the configuration has ended meanwhile") == confirming.MaxTelling && tellers() == 0
	})
}

// tellers returns how many goroutines send a notice.
func tellers() int {
	stacks := make([]byte, 4<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "confirming.post(")
}

func basicFor(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":pw"))
}

// TestConfirm_NoticesKeepNothing: the connection to the hook ends with the notice.
func TestConfirm_NoticesKeepNothing(t *testing.T) {
	told, closed := make(chan struct{}, 1), make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told <- struct{}{} }))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	g := startGateway(t, confirmingSite(newDeletingShop(t), "\t\t\t\tnotify "+server.URL+"/h00k\n", "shop.example.com"))
	g.run().want(t, 403, "rest_confirmation_required")
	for what, event := range map[string]chan struct{}{"notice": told, "end of the connection": closed} {
		select {
		case <-event:
		case <-time.After(5 * time.Second):
			t.Errorf("no %s", what)
		}
	}
}
