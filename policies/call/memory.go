package call

import (
	"context"
	"time"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Memory bounds the bytes of request bodies, and of answers that are rewritten, that are in
// memory at one time, over all readers and buffers that share it. Bodies that are read in one
// piece share its limit, answers while they are rewritten as much, the beginnings of others
// half as much, and so the parts of batches; see [Shares].
//
// Answers have shares of their own: a batch holds its body until it is answered, and must not
// wait for itself. So have parts: anybody can fill up the share of beginnings, whose like then
// go to the disk, and a part cannot.
type Memory struct {
	whole, answers, chunks, parts *Shares
}

// MemoryFor returns the limit of a Memory for inspected bodies of at most largest bytes.
// Such a body, or the values of a multipart form, take twice their size, and that must fit
// into the share of one client.
func MemoryFor(largest int64) int64 { return 8 * costOfPosted * max(largest, phpvars.MaxValues) }

// NewMemory returns a Memory of limit bytes for bodies in one piece.
func NewMemory(limit int64) *Memory {
	return &Memory{NewShares(limit), NewShares(limit), NewShares(limit / 2), NewShares(limit / 2)}
}

// Bytes returns how much is held now.
func (m *Memory) Bytes() int64 {
	return m.whole.Used() + m.answers.Used() + m.chunks.Used() + m.parts.Used()
}

// Take takes n bytes to read an answer while it is sent, or returns a FullError.
func (m *Memory) Take(h Holder, n int64) error { return m.answers.Try(h, n) }

// Free gives back n bytes that h has taken.
func (m *Memory) Free(h Holder, n int64) { m.answers.Free(h, n) }

// memoryPatience is how long a body waits for memory. Other bodies hold it only while they
// are read, not while they are sent or answered.
const memoryPatience = 10 * time.Second

// borrow takes n bytes for a body in one piece, and waits for them.
func (m *Memory) borrow(ctx context.Context, h Holder, n int64) error {
	return borrow(ctx, m.whole, h, n)
}

func borrow(ctx context.Context, s *Shares, h Holder, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	return s.Wait(ctx, h, n)
}
