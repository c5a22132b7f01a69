package gateway

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
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

// TestAdmin_Gone: where a client goes in the middle of an answer, Caddy gets no error: it would
// write a second header.
func TestAdmin_Gone(t *testing.T) {
	for name, serve := range map[string]func(http.ResponseWriter, adminRequest) error{
		"sites": serveSites, "events": serveEvents,
	} {
		w := &goneWriter{ResponseWriter: httptest.NewRecorder()}
		app := &App{running: new(running)}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/restwarden/"+name, http.NoBody)
		r.ProtoMajor = 2 // nothing takes the connection over
		if err := serve(w, adminRequest{app: app, r: r}); err != nil || w.headers != 1 {
			t.Errorf("%s: %v, %d headers", name, err, w.headers)
		}
	}
	if err := writeJSON(httptest.NewRecorder(), func() {}); err == nil {
		t.Error("what has no JSON form is answered")
	}
}
