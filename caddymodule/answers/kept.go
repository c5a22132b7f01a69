package answers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// Account is on whose account answers are held.
type Account struct {
	Memory *budget.Memory
	Spool  *budget.Spool
	Holder budget.Holder
}

// Buffer returns an empty buffer on the account. The caller must close it.
func (a Account) Buffer() *call.Buffer { return call.NewBuffer(a.Memory, a.Spool, a.Holder) }

func (a Account) take(n int64) bool { return a.Memory.Take(a.Holder, n) == nil }
func (a Account) free(n int64)      { a.Memory.Free(a.Holder, n) }

// Held counts the answers to an exchange's questions, on the account of who makes the request,
// until they are not needed any more. Several questions may use it at once.
type Held struct {
	Account

	mu    sync.Mutex
	taken []func() // give back what answers take
	ended bool
}

// until calls free once the answers are not needed any more.
func (h *Held) until(free func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		free()
		return
	}
	h.taken = append(h.taken, free)
}

// Close gives back what the answers take that have come.
func (h *Held) Close() { h.release(false) }

// End is Close for an exchange that has ended: what comes later is given back at once.
func (h *Held) End() { h.release(true) }

func (h *Held) release(ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, free := range h.taken {
		free()
	}
	h.taken, h.ended = nil, h.ended || ended
}

// smallAnswer is the size up to which an answer is held without counting it. So many of these as
// may be under way are little, and the questions of some clients do not depend on what others hold.
const smallAnswer = 64 << 10

// Kept is a Capture of the answer to a question.
type Kept struct {
	*Capture
	body stored
}

// Keep returns a Kept that takes no more than limit bytes of a body. It keeps them in memory up to
// smallAnswer, and what is larger as request bodies are kept, on the account of by. All is in memory
// where by is nil: of such questions few are under way, and the answer is not needed when its place
// among them is free.
func Keep(limit int, by *Held) *Kept {
	k := &Kept{body: stored{by: by}}
	k.Capture = NewCapture(limit, http.Header{}, &k.body)
	return k
}

// Close gives back what k keeps where Answer returns none. Nothing may write to k any more.
func (k *Kept) Close() { k.body.close() }

// stored is the body of an answer.
type stored struct {
	by    *Held
	small bytes.Buffer
	large *call.Buffer // with all of it, nil unless it is large
}

// Write implements io.Writer. An error is a *call.Refusal.
func (k *stored) Write(p []byte) (int, error) {
	if k.large == nil {
		if k.by == nil || k.small.Len()+len(p) <= smallAnswer {
			return k.small.Write(p)
		}
		k.large = k.by.Buffer()
		if _, err := k.large.Write(k.small.Bytes()); err != nil {
			return 0, err
		}
		k.small = bytes.Buffer{}
	}
	return k.large.Write(p)
}

func (k *stored) reader() io.Reader {
	if k.large != nil {
		return k.large.Reader()
	}
	return bytes.NewReader(k.small.Bytes())
}

func (k *stored) close() {
	if k.large != nil {
		k.large.Close()
	}
}

// Answer returns the captured answer to a request with this method, decoded. It returns
// an error if the answer is not complete. A large answer 200 is not in one piece if streams is true.
func (k *Kept) Answer(ctx context.Context, method string, streams bool) (*ask.Answer, error) {
	if err := k.whole(method); err != nil {
		return nil, err
	}
	a := &ask.Answer{Status: k.status, Header: k.header}
	if method == http.MethodHead {
		return a, nil
	}
	body := &k.body
	if zipped, err := k.zipped(); err != nil {
		return nil, err
	} else if zipped {
		packed := *body
		defer packed.close()
		*body = stored{by: body.by}
		if err := gunzip(body, packed.reader(), k.limit); err != nil {
			return nil, err
		}
	}
	switch {
	case body.large == nil:
		a.Body = ask.Text(body.small.Bytes())
	case streams && a.Status == http.StatusOK:
		a.Kept = body.large
		body.by.until(a.Kept.Close)
	default:
		defer body.close()
		piece, free, err := body.large.Piece(ctx)
		if err != nil {
			return nil, err
		}
		body.by.until(free)
		a.Body = ask.Text(piece)
	}
	return a, nil
}
