package call

import (
	"context"
	"io"
	"sync"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// costOfRewriting is the memory for a stream that is rewritten, as a multiple of its size:
// the piece that is read, and the piece that is made of it.
const costOfRewriting = 2

// Buffer keeps a stream until it is sent, such as an answer that is rewritten, or a cart. It keeps it on
// the account of a holder and as request bodies are kept: the beginning in memory, the rest on
// disk. It belongs to one goroutine.
type Buffer struct{ body body }

// NewBuffer returns an empty Buffer. The caller must close it.
func NewBuffer(m *budget.Memory, s *budget.Spool, h budget.Holder) *Buffer {
	return &Buffer{body{length: -1, memory: m, spool: s, holder: h}}
}

// Write appends p. An error is a *Refusal: the disk or a share of it is full.
func (b *Buffer) Write(p []byte) (int, error) {
	kept := b.remember(p)
	if kept == len(p) {
		return kept, nil
	}
	if err := b.body.write(p[kept:], b.body.spool.CreateAnswer); err != nil {
		return kept, spoolFull(err)
	}
	return len(p), nil
}

// remember keeps as much of p in memory as shares allow, and returns how much.
func (b *Buffer) remember(p []byte) (n int) {
	if b.body.file != nil {
		return 0
	}
	for n < len(p) {
		last := len(b.body.chunks) - 1
		if last < 0 || len(b.body.chunks[last]) == chunkSize {
			if !b.body.grow() {
				return n
			}
			last++
		}
		chunk := b.body.chunks[last]
		more := min(len(p)-n, chunkSize-len(chunk))
		b.body.chunks[last] = append(chunk, p[n:n+more]...)
		n += more
	}
	return n
}

// Size returns how many bytes are kept.
func (b *Buffer) Size() int64 { return b.body.size() }

// Reader reads what is kept from its beginning.
func (b *Buffer) Reader() io.Reader { return b.body.reader() }

// Replace replaces what is kept by what f makes of it. f gets it in one piece, and must not
// keep that. For the time of f a large piece takes memory of the holder's share, and waits
// for it. An error is f's, or a *Refusal: there is no memory, or the disk is full.
func (b *Buffer) Replace(ctx context.Context, f func([]byte) ([]byte, error)) error {
	free, err := b.borrow(ctx, costOfRewriting)
	if err != nil {
		return err
	}
	defer free()
	piece, err := b.body.piece()
	b.Close()
	if err != nil {
		return spoolFull(err)
	}
	if piece, err = f(piece); err != nil {
		return err
	}
	_, err = b.Write(piece)
	return err
}

// Piece returns what is kept in one piece. A large one takes memory of the holder's share until
// free is called, and waits for it. An error is a *Refusal: there is no memory, or the disk fails.
func (b *Buffer) Piece(ctx context.Context) (piece []byte, free func(), err error) {
	if free, err = b.borrow(ctx, 1); err != nil {
		return nil, nil, err
	}
	if piece, err = b.body.piece(); err != nil {
		free()
		return nil, nil, diskFails(err)
	}
	return piece, free, nil
}

// borrow takes memory for a large piece of cost times what is kept, and waits for it.
func (b *Buffer) borrow(ctx context.Context, cost int64) (free func(), err error) {
	size := cost * b.Size()
	if size <= inMemory {
		return func() {}, nil
	}
	memory, holder := b.body.memory.Answers, b.body.holder
	if err := budget.Borrow(ctx, memory, holder, size); err != nil {
		return nil, noMemory(err)
	}
	return sync.OnceFunc(func() { memory.Free(holder, size) }), nil
}

// Close gives back what b holds. A closed Buffer is empty.
func (b *Buffer) Close() {
	b.body.discard()
	b.body.chunks, b.body.held, b.body.file = nil, 0, nil
}
