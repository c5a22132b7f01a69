package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestEvents: records as they happen, across a reload, until Caddy stops.
func TestEvents(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: loginOnly + p.proxied()})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.file.Admin+"/restwarden/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := strangers.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(res.Status, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	next := func() (rec adminapi.Refusal) {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(text), &rec); err != nil {
					t.Fatal(err)
				}
				return rec
			}
		}
		t.Fatal("the events have ended", lines.Err())
		return rec
	}
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "")
	if rec := next(); rec.Site != g.site() || rec.Policy != "access" {
		t.Errorf("%+v", rec)
	}
	g.load(loginOnly + p.proxied() + "\n\theader X-Changed yes\n")
	g.retry("POST /cms-json/cms/v2/posts", "").want(t, 401, "")
	if rec := next(); rec.Method != http.MethodPost {
		t.Errorf("%+v", rec)
	}
	caddyrun.Stop(t)
	if lines.Scan(); lines.Scan() {
		t.Errorf("after the end: %s", lines.Text())
	}
}

// TestEvents_HTTP2: where the connection cannot be taken over, the events are an ordinary
// answer. A slow reader is told what it has lost.
func TestEvents_HTTP2(t *testing.T) {
	board, _ := newSwitchboard()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serveEvents(w, adminRequest{app: &App{board: board}, r: r}); err != nil {
			t.Error(err)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil || res.ProtoMajor != 2 {
		t.Fatal(res, err)
	}
	defer func() { _ = res.Body.Close() }()
	board.events.mu.Lock()
	for f := range board.events.followers {
		f.lost.Store(3)
	}
	board.events.mu.Unlock()
	board.events.send(adminapi.Refusal{Record: record.Record{Version: record.Version, Site: "a.example"}})
	lines := bufio.NewScanner(res.Body)
	for _, want := range []string{`"site":"a.example"`, "", "event: lost", `data: {"lost":3}`, ""} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("%q, want %s", lines.Text(), want)
		}
	}
	board.events.end()
	if lines.Scan() {
		t.Error(lines.Text())
	}
}

// TestEvents_Slow: a follower that does not read loses records, and is told how many.
func TestEvents_Slow(t *testing.T) {
	t.Parallel()
	var e events
	f, _ := e.follow()
	for i := range eventsKept + 7 {
		e.send(adminapi.Refusal{Record: record.Record{Method: fmt.Sprint(i)}})
	}
	if len(f.records) != eventsKept || f.lost.Load() != 7 {
		t.Errorf("%d kept, %d lost", len(f.records), f.lost.Load())
	}
	for range maxFollowers - 1 {
		if _, ok := e.follow(); !ok {
			t.Fatal("too few followers")
		}
	}
	if _, ok := e.follow(); ok {
		t.Error("too many followers")
	}
	e.leave(f)
	e.end()
	if e.count.Load() != 0 {
		t.Error("somebody follows")
	}
}
