package call

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
	shares  *Shares
	answers *Shares // part of shares
}

// SpoolFor returns the limit of a Spool for bodies of at most largest bytes: one of them
// fits into the share of one client.
func SpoolFor(largest int64) int64 { return 8 * min(largest, math.MaxInt64/8) }

// NewSpool returns a Spool that keeps its files in dir, "" being the system's
// directory for temporary files, and at most limit bytes in all of them.
func NewSpool(dir string, limit int64) *Spool {
	answers := max(limit/2, min(limit, 8*BufferLimit)) // one fits into the share of one client
	return &Spool{dir, NewShares(limit), NewShares(answers)}
}

// Bytes returns how much is spooled now.
func (s *Spool) Bytes() int64 { return s.shares.Used() }

// Held returns how much a site has on disk now, and how much it may have.
func (s *Spool) Held(site string) (bytes, limit int64) {
	return s.shares.HeldBy(site), s.shares.Of(Holder{Site: site})
}

// spoolFile is one spooled body.
type spoolFile struct {
	*os.File
	spool  *Spool
	part   *Shares // Spool.answers of an answer, nil of a body
	holder Holder
	size   int64
	linked bool // still has a name: the system cannot unlink an open file
	closed atomic.Bool
}

func (s *Spool) create(h Holder) (*spoolFile, error) {
	f, err := createIn(s.dir)
	if err != nil {
		return nil, err
	}
	// A file without a name disappears with the process, even with a killed one.
	return &spoolFile{File: f, spool: s, holder: h, linked: os.Remove(f.Name()) != nil}, nil
}

// append writes p at the end. It returns a FullError where a share is used up, or the
// system's error.
func (f *spoolFile) append(p []byte) error {
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

func (f *spoolFile) take(n int64) error {
	if f.part != nil {
		if err := f.part.Try(f.holder, n); err != nil {
			return err
		}
	}
	err := f.spool.shares.Try(f.holder, n)
	if err != nil && f.part != nil {
		f.part.Free(f.holder, n)
	}
	return err
}

func (f *spoolFile) free(n int64) {
	f.spool.shares.Free(f.holder, n)
	if f.part != nil {
		f.part.Free(f.holder, n)
	}
}

func (f *spoolFile) remove() {
	if f.closed.Swap(true) {
		return
	}
	_ = f.Close() // nothing can be done about it, and nothing depends on it
	if f.linked {
		_ = os.Remove(f.Name())
	}
	f.free(f.size)
}
