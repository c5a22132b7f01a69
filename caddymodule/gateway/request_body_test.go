package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// deadlines notes the read deadlines that are set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestHurried: every portion of a body that the gateway waits for has its deadline, and
// afterwards the connection has none.
func TestHurried(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/", iotest.OneByteReader(strings.NewReader(strings.Repeat("x", portion+1))))
	body := (&site{g: new(Gateway)}).hurried(w, r, new(exchange))
	body.(call.Hurrier).Hurry(true)
	if n, err := io.Copy(io.Discard, body); n != portion+1 || err != nil {
		t.Fatal(n, err)
	}
	if len(w.set) != 2 || w.set[0].Before(time.Now()) || w.set[1].Before(w.set[0]) {
		t.Errorf("deadlines of two portions: %v", w.set)
	}
	body.(call.Hurrier).Hurry(false)
	if last := w.set[len(w.set)-1]; !last.IsZero() {
		t.Errorf("the deadline stays: %v", last)
	}
}

// TestHurried_Uploads: a body in parts, whatever the letters of its type, may pause for minutes.
func TestHurried_Uploads(t *testing.T) {
	for kind, least := range map[string]time.Duration{"multipart/form-data; boundary=B": 4 * time.Minute, "Multipart/Mixed": 4 * time.Minute, "application/x-www-form-urlencoded": 0} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
		r.Header.Set("Content-Type", kind)
		body := (&site{g: new(Gateway)}).hurried(w, r, new(exchange))
		body.(call.Hurrier).Hurry(true)
		_, _ = io.Copy(io.Discard, body)
		if time.Until(w.set[0]) < least || least == 0 && time.Until(w.set[0]) > time.Minute {
			t.Errorf("%s: %v", kind, time.Until(w.set[0]))
		}
	}
}

// TestHurried_OnlyWhatIsWaitedFor: bodies that are only forwarded, requests without a
// body, and servers with a time-out of their own get no deadline.
func TestHurried_OnlyWhatIsWaitedFor(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	if _, err := io.Copy(io.Discard, (&site{g: new(Gateway)}).hurried(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")), new(exchange))); err != nil || len(w.set) > 0 {
		t.Errorf("%v, %v", w.set, err)
	}
	if body := (&site{g: new(Gateway)}).hurried(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody), new(exchange)); body != http.NoBody {
		t.Errorf("no body: %T", body)
	}
	observing := &Gateway{Mode: policy.Observe}
	if _, hurries := (&site{g: observing}).hurried(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")), new(exchange)).(call.Hurrier); hurries {
		t.Error("an observing gateway hurries")
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	own := caddyhttp.Server{ReadTimeout: 1}
	r = r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, &own))
	if _, is := (&site{g: new(Gateway)}).hurried(w, r, new(exchange)).(call.Hurrier); is {
		t.Error("the server's own time-out is overruled")
	}
}

// TestCountedBody: over HTTP/3 a body that ends before its length is an error; any other
// is unchanged.
func TestCountedBody(t *testing.T) {
	for name, test := range map[string]struct {
		major  int
		length int64
		want   error
	}{
		"short, HTTP/3": {3, 6, io.ErrUnexpectedEOF}, "whole, HTTP/3": {3, 5, nil}, "unknown, HTTP/3": {3, -1, nil}, "HTTP/1.1 counts itself": {1, 6, nil},
	} {
		r := httptest.NewRequest(http.MethodPut, "/", io.NopCloser(strings.NewReader("12345")))
		r.ProtoMajor, r.ContentLength = test.major, test.length
		got, err := io.ReadAll(counted(r))
		if !errors.Is(err, test.want) || string(got) != "12345" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
