package admin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/refusals"
)

// goneWriter is the answer to a client that goes once it has begun. It counts headers.
type goneWriter struct {
	http.ResponseWriter

	headers int
}

func (w *goneWriter) WriteHeader(int) { w.headers++ }

func (w *goneWriter) Write([]byte) (int, error) {
	w.headers = max(w.headers, 1)
	return 0, errors.New("the client is gone")
}

// FlushError is what http.ResponseController calls.
func (w *goneWriter) FlushError() error { return errors.New("the client is gone") }

// nothing stands for gateways that guard no site.
type nothing struct{ Gateways }

func (nothing) Statuses() []adminapi.Site      { return nil }
func (nothing) Store() *adminapi.Store         { return nil }
func (nothing) OperatorHeader() string         { return "" }
func (nothing) Followers() *refusals.Followers { return new(refusals.Followers) }

// TestGone: where a client goes in the middle of an answer, Caddy gets no error: it would
// write a second header.
func TestGone(t *testing.T) {
	module := New(func() Gateways { return nothing{} })
	for _, path := range []string{adminapi.SitesPath, adminapi.EventsPath} {
		w := &goneWriter{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+adminapi.Path+path, http.NoBody)
		r.ProtoMajor = 2 // nothing takes the connection over
		if err := module.serve(w, r); err != nil || w.headers != 1 {
			t.Errorf("%s: %v, %d headers", path, err, w.headers)
		}
	}
	if err := writeJSON(httptest.NewRecorder(), func() {}); err == nil {
		t.Error("what has no JSON form is answered")
	}
}
