package call

import (
	"os"
	"sync/atomic"
)

// Spool bounds the bytes of request bodies that are kept on disk at one time. Several
// readers may share it.
type Spool struct {
	dir   string
	limit int64
	used  atomic.Int64
}

// NewSpool returns a Spool that keeps its files in dir, "" being the system's
// directory for temporary files, and at most limit bytes in all of them.
func NewSpool(dir string, limit int64) *Spool { return &Spool{dir: dir, limit: limit} }

// Bytes returns how much is spooled now.
func (s *Spool) Bytes() int64 { return s.used.Load() }

// spoolFile is one spooled body.
type spoolFile struct {
	*os.File
	spool  *Spool
	size   int64
	linked bool // still has a name: the system cannot unlink an open file
	closed atomic.Bool
}

func (s *Spool) create() (*spoolFile, error) {
	f, err := os.CreateTemp(s.dir, "restwarden-")
	if err != nil {
		return nil, err
	}
	// A file without a name disappears with the process, even with a killed one.
	return &spoolFile{File: f, spool: s, linked: os.Remove(f.Name()) != nil}, nil
}

// append writes p at the end. It returns false where the budget or the disk is full.
func (f *spoolFile) append(p []byte) bool {
	n := int64(len(p))
	if f.spool.used.Add(n) > f.spool.limit {
		f.spool.used.Add(-n)
		return false
	}
	if _, err := f.WriteAt(p, f.size); err != nil {
		f.spool.used.Add(-n)
		return false
	}
	f.size += n
	return true
}

func (f *spoolFile) remove() {
	if f.closed.Swap(true) {
		return
	}
	_ = f.Close() // nothing can be done about it, and nothing depends on it
	if f.linked {
		_ = os.Remove(f.Name())
	}
	f.spool.used.Add(-f.size)
}
