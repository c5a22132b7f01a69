package call

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// TestBuffer: a stream of any size comes back byte for byte, before and after it is replaced,
// and all that it took is given back. Memory holds no more than its beginning.
func TestBuffer(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 65_535, 65_536, 65_537, 300_000} {
		for _, limit := range []int64{0, 8 << 10, 128 << 20} {
			memory, spool := budget.NewMemory(limit), budget.NewSpool(t.TempDir(), 64<<20)
			b := NewBuffer(memory, spool, budget.Holder{Client: someone})
			stream := strings.Repeat("abcdefg", size/7+1)[:size]
			if n, err := io.Copy(b, &pieces{stream, 1000}); n != int64(size) || err != nil {
				t.Fatal(n, err)
			}
			if got, err := io.ReadAll(b.Reader()); string(got) != stream || err != nil || b.Size() != int64(size) {
				t.Fatalf("%d of %d bytes, %v", len(got), size, err)
			}
			if held := memory.Bytes() + spool.Bytes(); held+chunkSize < int64(size) || memory.Bytes() > inMemory {
				t.Errorf("%d bytes are counted of %d, %d in memory", held, size, memory.Bytes())
			}
			if limit >= int64(size)*costOfRewriting*8 {
				before := memory.Bytes()
				piece, free, err := b.Piece(t.Context())
				if took := memory.Bytes() - before; string(piece) != stream || err != nil || size > inMemory && took != int64(size) || size <= inMemory && took != 0 {
					t.Errorf("a piece of %d of %d bytes takes %d, %v", len(piece), size, took, err)
				}
				free()
				free()
				if after := memory.Bytes(); after != before {
					t.Errorf("%d bytes of the piece are never given back", after-before)
				}
				err = b.Replace(t.Context(), func(p []byte) ([]byte, error) {
					if spool.Bytes() != 0 || memory.Bytes() < int64(size)*costOfRewriting && size > inMemory {
						t.Errorf("while %d bytes are rewritten, %d are on disk and %d in memory", size, spool.Bytes(), memory.Bytes())
					}
					return bytes.ToUpper(p), nil
				})
				if got, _ := io.ReadAll(b.Reader()); string(got) != strings.ToUpper(stream) || err != nil {
					t.Errorf("%d of %d bytes, %v", len(got), size, err)
				}
			}
			if memory.Bytes() > inMemory {
				t.Errorf("%d bytes stay in memory", memory.Bytes())
			}
			b.Close()
			b.Close()
			if memory.Bytes() != 0 || spool.Bytes() != 0 {
				t.Errorf("%d bytes of memory and %d of disk are never given back", memory.Bytes(), spool.Bytes())
			}
		}
	}
}

// TestBuffer_Full: an answer waits for memory, and is refused where it finds none in time or
// the share of the disk is full. Half of a disk share is left for bodies.
func TestBuffer_Full(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, spool := budget.NewMemory(8<<20), budget.NewSpool(t.TempDir(), 256<<20) // a client: 1 MiB and 16 MiB of answers
		full := func(rest int) *Buffer {
			b := NewBuffer(memory, spool, budget.Holder{Client: someone})
			if _, err := b.Write(make([]byte, rest)); err != nil {
				t.Fatal(err)
			}
			return b
		}
		first, second := full(400_000), full(400_000)
		defer first.Close()
		defer second.Close()
		same := func(p []byte) ([]byte, error) { return p, nil }
		err := first.Replace(t.Context(), func(p []byte) ([]byte, error) {
			refusal, ok := errors.AsType[*Refusal](second.Replace(t.Context(), same))
			if !ok || refusal.Reason != "memory" || !errors.Is(refusal, budget.FullError("client")) {
				t.Error("there is no memory:", refusal)
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if second.Replace(gone, same) == nil {
				t.Error("the client is gone, and it got memory")
			}
			return p, nil
		})
		if err != nil || second.Replace(t.Context(), same) != nil {
			t.Error("there is memory again", err)
		}
		large := full(0)
		defer large.Close()
		if _, err := large.Write(make([]byte, 17<<20)); err == nil {
			t.Error("more than half of the client's share of the disk")
		}
		if err := spool.Shares.Try(budget.Holder{Client: someone}, 15<<20); err != nil {
			t.Error("no room is left for bodies:", err)
		}
	})
}

// FuzzBuffer: whatever the pieces and the limits, what was written comes back, and everything
// is given back.
func FuzzBuffer(f *testing.F) {
	for _, seed := range []struct{ size, piece, memory, disk int }{{0, 1, 0, 0}, {5000, 7, 1 << 20, 1 << 20}, {70_000, 4096, 1 << 20, 8 << 20}, {70_000, 65_537, 100, 100}} {
		f.Add(seed.size, seed.piece, seed.memory, seed.disk)
	}
	f.Fuzz(func(t *testing.T, size, piece, limit, disk int) {
		size, piece = max(0, size)%300_000, max(1, piece)%70_000+1
		memory, spool := budget.NewMemory(int64(max(0, limit))), budget.NewSpool("", int64(max(0, disk)))
		b := NewBuffer(memory, spool, budget.Holder{Site: "a"})
		stream := strings.Repeat("0123456789", size/10+1)[:size]
		written, err := io.CopyBuffer(b, &pieces{stream, piece}, make([]byte, piece))
		got, _ := io.ReadAll(b.Reader())
		if err == nil && string(got) != stream || !strings.HasPrefix(stream, string(got)) || int64(len(got)) != b.Size() {
			t.Errorf("%d bytes of %d, %d written, %v", len(got), size, written, err)
		}
		b.Close()
		if memory.Bytes() != 0 || spool.Bytes() != 0 || spool.Answers.Used() != 0 {
			t.Error("not all is given back")
		}
	})
}
