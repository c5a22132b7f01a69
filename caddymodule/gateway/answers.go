package gateway

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

// heldAnswers counts the answers to an exchange's questions, on the account of who makes the request,
// until they are not needed any more. Several questions may use it at once.
type heldAnswers struct {
	memory *budget.Memory
	spool  *budget.Spool
	holder budget.Holder

	mu    sync.Mutex
	taken []func() // give back what answers take
	ended bool
}

// until calls free once the answers are not needed any more.
func (a *heldAnswers) until(free func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		free()
		return
	}
	a.taken = append(a.taken, free)
}

// close gives back what the answers take that have come.
func (a *heldAnswers) close() { a.free(false) }

// end is close for an exchange that has ended: what comes later is given back at once.
func (a *heldAnswers) end() { a.free(true) }

func (a *heldAnswers) free(ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, free := range a.taken {
		free()
	}
	a.taken, a.ended = nil, a.ended || ended
}

// smallAnswer is the size up to which an answer is held without counting it. So many of these as
// may be under way are little, and the questions of some clients do not depend on what others hold.
const smallAnswer = 64 << 10

// stored keeps the answer to a question: in memory up to smallAnswer, and what is larger as request
// bodies are kept, on the account of who asks. It is all in memory where by is nil: of such questions
// few are under way, and the answer is not needed when its place among them is free.
type stored struct {
	by    *heldAnswers
	small bytes.Buffer
	large *call.Buffer // with all of it, nil unless it is large
}

// Write implements io.Writer. An error is a *call.Refusal.
func (k *stored) Write(p []byte) (int, error) {
	if k.large == nil {
		if k.by == nil || k.small.Len()+len(p) <= smallAnswer {
			return k.small.Write(p)
		}
		k.large = call.NewBuffer(k.by.memory, k.by.spool, k.by.holder)
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

// answer returns the captured answer to a request with this method, decoded. It returns
// an error if the answer is not complete. A large answer 200 is not in one piece if streams is true.
func (k *stored) answer(ctx context.Context, c *capture, method string, streams bool) (*ask.Answer, error) {
	if err := c.whole(method); err != nil {
		return nil, err
	}
	a := &ask.Answer{Status: c.status, Header: c.header}
	if method == http.MethodHead {
		return a, nil
	}
	if zipped, err := c.zipped(); err != nil {
		return nil, err
	} else if zipped {
		packed := *k
		defer packed.close()
		*k = stored{by: k.by}
		if err := gunzip(k, packed.reader(), c.limit); err != nil {
			return nil, err
		}
	}
	switch {
	case k.large == nil:
		a.Body = ask.Text(k.small.Bytes())
	case streams && a.Status == http.StatusOK:
		a.Kept = k.large
		k.by.until(a.Kept.Close)
	default:
		defer k.close()
		piece, free, err := k.large.Piece(ctx)
		if err != nil {
			return nil, err
		}
		k.by.until(free)
		a.Body = ask.Text(piece)
	}
	return a, nil
}
