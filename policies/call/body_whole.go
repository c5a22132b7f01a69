package call

import (
	"context"
	"io"
	"unsafe"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// costOfJSON is the memory for a JSON body in one piece: the piece itself, and the members of
// so many objects in it. All other values are slices of the piece. A body alone has room.
func (b *body) costOfJSON(objects int) int64 {
	size := b.size()
	room := max(0, b.memory.Whole.Of(b.holder)-size)
	return size + min(3*size, int64(objects)*jsonMembers*costOfMember, room)
}

// bytes returns the loaded body in one piece. The piece is valid until settle, and the
// caller must not change it. A body of more than one chunk waits for cost bytes of memory.
func (b *body) bytes(ctx context.Context, cost int64) ([]byte, *Refusal) {
	switch {
	case b.whole != nil:
		return b.whole, nil
	case b.file == nil && len(b.chunks) == 0:
		return nil, nil
	case b.file == nil && len(b.chunks) == 1:
		return b.chunks[0], nil
	}
	if refusal := b.borrow(ctx, cost); refusal != nil {
		return nil, refusal
	}
	all, err := b.piece()
	if err != nil {
		return nil, errBrokenBody
	}
	b.whole = all
	return all, nil
}

// piece reads the loaded body into one piece.
func (b *body) piece() ([]byte, error) {
	piece := make([]byte, b.size())
	_, err := io.ReadFull(b.reader(), piece)
	return piece, err
}

// borrow takes memory until settle. It does so once: a body that holds memory and waits
// for more could wait for itself.
func (b *body) borrow(ctx context.Context, n int64) *Refusal {
	if b.borrowed > 0 || n <= chunkSize {
		return nil
	}
	if err := budget.Borrow(ctx, b.memory.Whole, b.holder, n); err != nil {
		return noMemory(err)
	}
	b.borrowed = n
	return nil
}

// settle gives back what was borrowed to read the body.
func (b *body) settle() {
	b.whole = nil
	b.memory.Whole.Free(b.holder, b.borrowed)
	b.borrowed = 0
}

// text is b as a string, without a copy. Loaded bytes never change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // see above
