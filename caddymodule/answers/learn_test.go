package answers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/klauspost/compress/zstd"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/idscan"
)

// reader is a Lesson that keeps what it reads.
type reader struct {
	most int // bytes that it wants; 0 for any number

	mu    sync.Mutex
	body  bytes.Buffer
	ends  int
	whole bool
}

func (l *reader) Begin(a *ask.Answer) bool { return a.Status == http.StatusOK }

func (l *reader) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most > 0 && l.body.Len()+len(b) > l.most {
		return 0, idscan.ErrNotScanned
	}
	return l.body.Write(b)
}

func (l *reader) End(whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends++
	l.whole = whole
}

// state returns how often the lesson has ended, and whether the body came to its end.
func (l *reader) state() (ends int, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends, l.whole
}

func gzipped(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(tb testing.TB, b []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	return z.EncodeAll(b, nil)
}

// noise is text that does not compress well.
func noise(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + random.IntN(90))
	}
	return b
}

// anybody is an account with much room.
func anybody() Account { return Account{Memory: budget.NewMemory(1 << 30)} }

// awaitDecoders waits until no answer is decoded: none of their goroutines is left.
func awaitDecoders(t *testing.T) {
	t.Helper()
	wait.For(t, 30*time.Second, "the decoders have ended", func() bool { return len(decoders) == 0 })
}

// TestLearning_Bodies: the client gets each byte, whatever becomes of the lesson, and a lesson
// gets the decoded body or is told that it broke off.
func TestLearning_Bodies(t *testing.T) {
	text := noise(300_000)
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	broken := func(b []byte) []byte {
		b = bytes.Clone(b)
		b[len(b)/2] ^= 0x55
		return b
	}
	encoded := map[string][]byte{"gzip": gzipped(t, text), "zstd": zstandard(t, text), "": text}
	spaces := bytes.Repeat([]byte(" "), 20<<20)
	for name, test := range map[string]struct {
		encoding string
		body     []byte
		most     int
		err      error
		whole    bool
		ends     int
	}{
		"plain":                {"", encoded[""], 0, nil, true, 1},
		"gzip":                 {"gzip", encoded["gzip"], 0, nil, true, 1},
		"gzip, capitals":       {"GZip", encoded["gzip"], 0, nil, true, 1},
		"zstd":                 {"zstd", encoded["zstd"], 0, nil, true, 1},
		"br":                   {"br", encoded["gzip"], 0, nil, false, 0},
		"two encodings":        {"gzip, gzip", encoded["gzip"], 0, nil, false, 0},
		"plain, handler fails": {"", encoded[""], 0, io.ErrUnexpectedEOF, false, 1},
		"gzip, handler fails":  {"gzip", encoded["gzip"], 0, io.ErrUnexpectedEOF, false, 1},
		"gzip, cut":            {"gzip", cut(encoded["gzip"]), 0, nil, false, 1},
		"zstd, cut":            {"zstd", cut(encoded["zstd"]), 0, nil, false, 1},
		"gzip, broken":         {"gzip", broken(encoded["gzip"]), 0, nil, false, 1},
		"zstd, broken":         {"zstd", broken(encoded["zstd"]), 0, nil, false, 1},
		"gzip, more behind":    {"gzip", append(bytes.Clone(encoded["gzip"]), "more"...), 0, nil, false, 1},
		"zstd, more behind":    {"zstd", append(bytes.Clone(encoded["zstd"]), "more"...), 0, nil, false, 1},
		"no gzip":              {"gzip", text, 0, nil, false, 1},
		"no zstd":              {"zstd", text, 0, nil, false, 1},
		"nothing, gzip":        {"gzip", nil, 0, nil, false, 0},
		"plain, too much":      {"", encoded[""], 1000, nil, false, 1},
		"gzip, a bomb":         {"gzip", gzipped(t, spaces), 1 << 20, nil, false, 1},
		"zstd, a bomb":         {"zstd", zstandard(t, spaces), 1 << 20, nil, false, 1},
		"gzip, endless":        {"gzip", bytes.Repeat(gzipped(t, nil), encodedBytes/20), 0, nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lesson, by := &reader{most: test.most}, anybody()
			w := httptest.NewRecorder()
			h := Teach(caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				if test.encoding != "" {
					w.Header().Set("Content-Encoding", test.encoding)
				}
				// One byte, then pieces: Write and ReadFrom.
				if len(test.body) > 0 {
					_, _ = w.Write(test.body[:1])
					_, _ = io.Copy(w, bytes.NewReader(test.body[1:]))
				}
				return test.err
			}), lesson, by)
			if err := h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil)); !errors.Is(err, test.err) {
				t.Error(err)
			}
			awaitDecoders(t)
			if held := by.Memory.Bytes(); held != 0 {
				t.Errorf("%d bytes are never given back", held)
			}
			if !bytes.Equal(w.Body.Bytes(), test.body) {
				t.Errorf("the client got %d of %d bytes", w.Body.Len(), len(test.body))
			}
			if ends, whole := lesson.state(); ends != test.ends || whole != test.whole {
				t.Errorf("ended %d times, whole: %v", ends, whole)
			}
			if test.whole && !bytes.Equal(lesson.body.Bytes(), text) {
				t.Errorf("the lesson got %d of %d bytes", lesson.body.Len(), len(text))
			}
		})
	}
}

// TestLearning_BreaksOff: a platform that breaks off ends the lesson, and the panic that ends
// the connection goes on.
func TestLearning_BreaksOff(t *testing.T) {
	for _, encoding := range []string{"", "gzip", "zstd"} {
		lesson := new(reader)
		h := Teach(caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			_, _ = w.Write(map[string][]byte{"": []byte("[]"), "gzip": gzipped(t, []byte("[]")), "zstd": zstandard(t, []byte("[]"))}[encoding])
			panic(http.ErrAbortHandler)
		}), lesson, anybody())
		defer func() {
			if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				t.Errorf("%s: %v", encoding, p)
			}
		}()
		_ = h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		awaitDecoders(t)
		if ends, whole := lesson.state(); ends != 1 || whole {
			t.Errorf("%s: ended %d times, whole: %v", encoding, ends, whole)
		}
	}
}

// TestLearning_Memory: what an answer holds to be decoded is counted while a slow reader takes
// it. Where there is no room, the answer is sent and teaches nothing.
func TestLearning_Memory(t *testing.T) {
	body := gzipped(t, noise(64<<10))
	for name, test := range map[string]struct {
		memory int64
		counts bool
	}{"room": {1 << 30, true}, "none": {1 << 10, false}} {
		t.Run(name, func(t *testing.T) {
			lesson, by := new(reader), Account{Memory: budget.NewMemory(test.memory)}
			h := Teach(caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("Content-Encoding", "gzip")
				_, err := w.Write(body)
				if held := by.Memory.Bytes(); (held >= decoderCosts["gzip"]) != test.counts {
					t.Errorf("%d bytes are counted", held)
				}
				return err
			}), lesson, by)
			w := httptest.NewRecorder()
			if err := h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || !bytes.Equal(w.Body.Bytes(), body) {
				t.Error(err, w.Body.Len())
			}
			awaitDecoders(t)
			if ends, whole := lesson.state(); ends != 1 || whole != test.counts || by.Memory.Bytes() != 0 {
				t.Errorf("ended %d times, whole: %v, held: %d", ends, whole, by.Memory.Bytes())
			}
		})
	}
}

// stuck is a Lesson that takes nothing until it is let.
type stuck struct {
	reader
	entered chan struct{}
	let     chan struct{}
}

func (l *stuck) Write(b []byte) (int, error) {
	select {
	case <-l.entered:
	default:
		close(l.entered)
	}
	<-l.let
	return l.reader.Write(b)
}

// TestLearning_SlowDecoder: the client waits for no decoder. One that is too slow is given up,
// and only so many answers are decoded at a time.
func TestLearning_SlowDecoder(t *testing.T) {
	body := gzipped(t, noise(3<<20))
	if len(body) < waitingBytes*2 {
		t.Fatal(len(body))
	}
	let := make(chan struct{})
	lessons := make([]*stuck, decodedAtOnce+3)
	for i := range lessons {
		l := &stuck{entered: make(chan struct{}), let: let}
		lessons[i] = l
		w := httptest.NewRecorder()
		h := Teach(caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Encoding", "gzip")
			first := waitingBytes / 2
			_, _ = w.Write(body[:first])
			if i < decodedAtOnce {
				<-l.entered
			}
			_, err := io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(body[first:])}) // in pieces
			return err
		}), l, anybody())
		if err := h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(w.Body.Bytes(), body) {
			t.Errorf("the client got %d of %d bytes", w.Body.Len(), len(body))
		}
		if ends, _ := l.state(); (ends == 1) != (i >= decodedAtOnce) {
			t.Errorf("lesson %d has ended %d times", i, ends)
		}
	}
	close(let)
	awaitDecoders(t)
	for i, l := range lessons {
		if ends, whole := l.state(); ends != 1 || whole {
			t.Errorf("lesson %d: ended %d times, whole: %v", i, ends, whole)
		}
	}
}
