package adminapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAsk_EndlessAnswer: an answer that begins and does not end is given up.
func TestAsk_EndlessAnswer(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"sites":[`)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	}))
	t.Cleanup(admin.Close)
	c, err := New(strings.TrimPrefix(admin.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	c.patience = 100 * time.Millisecond
	var answer any
	if err := c.Ask(t.Context(), http.MethodGet, "sites", nil, &answer); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", answer, err)
	}
}
