package confirming

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/store"
)

// FuzzDesk_Token: no path but one that begins as a link does is taken for one, and no token
// but one that was made opens anything.
func FuzzDesk_Token(f *testing.F) {
	memory, err := store.NewMemory()
	if err != nil {
		f.Fatal(err)
	}
	ledger := confirm.NewLedger(memory, "shop")
	made, _, err := ledger.Ask(f.Context(), &confirm.Call{Shop: "s", Caller: "user 7", Runs: "shop/delete"}, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	token, err := confirm.NewLinks().Token(f.Context(), ledger, made)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{token, token + "=", token[1:], "", "/", "..%2f", strings.Repeat("A", confirm.TokenLen), strings.ToLower(token), "\x00"} {
		f.Add(Path + seed)
		f.Add("/blog" + Path + seed)
	}
	d := new(Desk)
	f.Fuzz(func(t *testing.T, path string) {
		got, ok := d.Token(nil, &url.URL{Path: path})
		if ok != strings.HasPrefix(path, Path) {
			t.Fatalf("%q is a link: %v", path, ok)
		}
		if !ok {
			got = path
		}
		if c, err := ledger.ByToken(t.Context(), got); err == nil && (got != token || c.ID != made.ID) {
			t.Errorf("%q opens %+v", got, c)
		}
	})
}

// FuzzAttempt_Holds: whatever a handler writes, the client gets it, all of it and in order.
func FuzzAttempt_Holds(f *testing.F) {
	const most = 64 << 10
	f.Add(404, "application/json", []byte("{}"), 3, true)
	f.Add(200, "text/event-stream", []byte("data: x"), 1, false)
	f.Add(400, "application/json", []byte(strings.Repeat("x", 100)), 1000, false)
	f.Fuzz(func(t *testing.T, status int, kind string, piece []byte, times int, flush bool) {
		if status < 200 || status > 599 || times < 0 || times > 2000 || strings.ContainsAny(kind, "\r\n\x00") {
			return
		}
		to := &plainWriter{header: http.Header{"Content-Type": {kind}}}
		w := NewAttempt(to, nil, most, func(status int, h http.Header) bool {
			return abilities.ReadsAnswer(status) && h.Get("Content-Type") == "application/json"
		})
		w.WriteHeader(status)
		for range times {
			_, _ = w.Write(piece)
			if flush {
				_ = w.FlushError()
			}
		}
		if n := w.held.Len(); n > most || !abilities.ReadsAnswer(status) && n > 0 {
			t.Errorf("%d bytes are held", n)
		}
		w.Release()
		if to.status != status || string(to.body) != strings.Repeat(string(piece), times) {
			t.Errorf("got %d and %d bytes, want %d and %d", to.status, len(to.body), status, times*len(piece))
		}
	})
}

// plainWriter keeps what it gets.
type plainWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *plainWriter) Header() http.Header    { return w.header }
func (w *plainWriter) WriteHeader(status int) { w.status = status }
func (w *plainWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}
