package call

import (
	"context"
	"io"
	"unsafe"
)

// The memory for a body in one piece, as a multiple of its size: the piece itself, and the
// values that are decoded out of a form. Values of JSON are slices of the piece.
const (
	costOfJSON   = 1
	costOfPosted = 2
)

// bytes returns the loaded body in one piece. The piece is valid until settle, and the
// caller must not change it. A large body waits for memory of cost times its size.
func (b *body) bytes(ctx context.Context, cost int64) ([]byte, *Refusal) {
	switch {
	case b.whole != nil:
		return b.whole, nil
	case b.file == nil && len(b.chunks) == 0:
		return nil, nil
	case b.file == nil && len(b.chunks) == 1:
		return b.chunks[0], nil
	}
	if refusal := b.borrow(ctx, cost*b.size()); refusal != nil {
		return nil, refusal
	}
	all := make([]byte, b.size())
	if _, err := io.ReadFull(b.reader(), all); err != nil {
		return nil, errBrokenBody
	}
	b.whole = all
	return all, nil
}

// borrow takes memory until settle. It does so once: a body that holds memory and waits
// for more could wait for itself.
func (b *body) borrow(ctx context.Context, n int64) *Refusal {
	if b.borrowed > 0 || n <= inMemory {
		return nil
	}
	if err := b.memory.borrow(ctx, b.holder, n); err != nil {
		return noMemory(err)
	}
	b.borrowed = n
	return nil
}

// settle gives back what was borrowed to read the body.
func (b *body) settle() {
	b.whole = nil
	b.memory.whole.Free(b.holder, b.borrowed)
	b.borrowed = 0
}

// text is b as a string, without a copy. Loaded bytes never change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // see above
