package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/admin"
	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestEvents: records as they happen, across a reload, until Caddy stops.
func TestEvents(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: loginOnly + p.proxied()})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.file.Admin+adminapi.Path+adminapi.EventsPath, http.NoBody)
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
	running, _ := newRunning()
	const lost = 3
	busy := func() { // the follower follows already
		for range refusals.Waiting + lost {
			running.followers.Send(adminapi.Refusal{Record: record.Record{Version: record.Version, Site: "a.example"}})
		}
	}
	events := admin.New(func() admin.Gateways { return endpoint{&App{running: running}} }).Routes()[0].Handler
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := events.ServeHTTP(lateWriter{w, busy}, r); err != nil {
			t.Error(err)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+adminapi.Path+adminapi.EventsPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil || res.ProtoMajor != 2 {
		t.Fatal(res, err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for _, want := range []string{`"site":"a.example"`, "", "event: lost", fmt.Sprintf(`data: {"lost":%d}`, lost), ""} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("%q, want %s", lines.Text(), want)
		}
	}
	for range 2 * (refusals.Waiting - 1) { // a record is a line and an empty one
		lines.Scan()
	}
	running.followers.End()
	if lines.Scan() {
		t.Error(lines.Text())
	}
}

// lateWriter is busy before it begins the answer.
type lateWriter struct {
	http.ResponseWriter

	busy func()
}

func (w lateWriter) WriteHeader(status int) {
	w.busy()
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is what http.ResponseController calls.
func (w lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
