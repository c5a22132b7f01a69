package budget

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
	Whole   *Shares // bodies in one piece
	Answers *Shares // what is rewritten
	Chunks  *Shares // beginnings of bodies
	Parts   *Shares // parts of batches
}

// CostOfForm is the memory for a form in one piece, as a multiple of its size: the piece
// itself, and a value that is decoded out of it.
const CostOfForm = 2

// MemoryFor returns the limit of a Memory for inspected bodies of at most largest bytes.
// Such a body, or the values of a multipart form, take twice their size, and that must fit
// into the share of one client.
func MemoryFor(largest int64) int64 { return 8 * CostOfForm * max(largest, phpvars.MaxValues) }

// NewMemory returns a Memory of limit bytes for bodies in one piece.
func NewMemory(limit int64) *Memory {
	return &Memory{Whole: NewShares(limit), Answers: NewShares(limit), Chunks: NewShares(limit / 2), Parts: NewShares(limit / 2)}
}

// Bytes returns how much is held now.
func (m *Memory) Bytes() int64 {
	return m.Whole.Used() + m.Answers.Used() + m.Chunks.Used() + m.Parts.Used()
}

// Take takes n bytes to read an answer while it is sent, or returns a FullError.
func (m *Memory) Take(h Holder, n int64) error { return m.Answers.Try(h, n) }

// Free gives back n bytes that h has taken.
func (m *Memory) Free(h Holder, n int64) { m.Answers.Free(h, n) }

// memoryPatience is how long a body waits for memory. Other bodies hold it only while they
// are read, not while they are sent or answered.
const memoryPatience = 10 * time.Second

// Borrow takes n bytes of memory for one piece, and waits for them as long as a body may.
func Borrow(ctx context.Context, s *Shares, h Holder, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	return s.Wait(ctx, h, n)
}
