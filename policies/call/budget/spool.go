package budget

import (
	"math"
	"os"
	"sync/atomic"
)

// Spool bounds the bytes of request bodies, and of answers that are rewritten, that are kept
// on disk at one time. Readers of many sites may share it; see [Shares]. Answers may hold half
// of it, so that clients who do not read theirs leave room for what others send.
type Spool struct {
	dir     string
	Shares  *Shares // of all
	Answers *Shares // what answers hold of them
}

// BufferLimit is the largest stream that a client's share of the default limits has room for,
// in memory and on disk.
const BufferLimit = 8 << 20

// SpoolFor returns the limit of a Spool for bodies of at most largest bytes: one of them
// fits into the share of one client.
func SpoolFor(largest int64) int64 { return 8 * min(largest, math.MaxInt64/8) }

// NewSpool returns a Spool that keeps its files in dir, "" being the system's
// directory for temporary files, and at most limit bytes in all of them.
func NewSpool(dir string, limit int64) *Spool {
	answers := max(limit/2, min(limit, 8*BufferLimit)) // one fits into the share of one client
	return &Spool{dir: dir, Shares: NewShares(limit), Answers: NewShares(answers)}
}

// Bytes returns how much is spooled now.
func (s *Spool) Bytes() int64 { return s.Shares.Used() }

// Held returns how much a site has on disk now, and how much it may have.
func (s *Spool) Held(site string) (bytes, limit int64) {
	return s.Shares.HeldBy(site), s.Shares.Of(Holder{Site: site})
}

// File is one spooled body, or what is spooled of an answer.
type File struct {
	*os.File
	spool  *Spool
	part   *Shares // Spool.Answers of an answer, nil of a body
	holder Holder
	size   int64
	linked bool // still has a name: the system cannot unlink an open file
	closed atomic.Bool
}

// Create makes the file of a body, on the account of h.
func (s *Spool) Create(h Holder) (*File, error) {
	f, err := createIn(s.dir)
	if err != nil {
		return nil, err
	}
	// A file without a name disappears with the process, even with a killed one.
	return &File{File: f, spool: s, holder: h, linked: os.Remove(f.Name()) != nil}, nil
}

// CreateAnswer makes the file of an answer, on the account of h.
func (s *Spool) CreateAnswer(h Holder) (*File, error) {
	f, err := s.Create(h)
	if err != nil {
		return nil, err
	}
	f.part = s.Answers
	return f, nil
}

// Size returns how much has been written.
func (f *File) Size() int64 { return f.size }

// Append writes p at the end. It returns a FullError where a share is used up, or the
// system's error.
func (f *File) Append(p []byte) error {
	n := int64(len(p))
	if err := f.take(n); err != nil {
		return err
	}
	if _, err := f.WriteAt(p, f.size); err != nil {
		f.free(n)
		return err
	}
	f.size += n
	return nil
}

func (f *File) take(n int64) error {
	if f.part != nil {
		if err := f.part.Try(f.holder, n); err != nil {
			return err
		}
	}
	err := f.spool.Shares.Try(f.holder, n)
	if err != nil && f.part != nil {
		f.part.Free(f.holder, n)
	}
	return err
}

func (f *File) free(n int64) {
	f.spool.Shares.Free(f.holder, n)
	if f.part != nil {
		f.part.Free(f.holder, n)
	}
}

// Remove removes the file, and gives back what it takes. Once is enough.
func (f *File) Remove() {
	if f.closed.Swap(true) {
		return
	}
	_ = f.Close() // nothing can be done about it, and nothing depends on it
	if f.linked {
		_ = os.Remove(f.Name())
	}
	f.free(f.size)
}
