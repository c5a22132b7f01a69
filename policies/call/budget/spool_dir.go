package budget

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/dustin/go-humanize"
)

// CodeSpool is the code of what is odd about a directory for bodies.
const CodeSpool = "W14"

func createIn(dir string) (*os.File, error) { return os.CreateTemp(dir, "restwarden-") }

// CheckSpool makes a file in dir and removes it. The error says why bodies cannot be spooled
// there. A full disk is no error, since it may have room again. Each finding, of [CodeSpool], is a
// sentence that says that dir is in memory, or that its disk has less room than limit.
func CheckSpool(dir string, limit int64) (findings []string, err error) {
	f, err := createIn(dir)
	switch {
	case err == nil:
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	case errors.Is(err, syscall.ENOSPC):
		err = nil
	}
	if err != nil {
		if of, ok := errors.AsType[*os.PathError](err); ok {
			err = of.Err // the file has a random name
		}
		return nil, fmt.Errorf("request bodies cannot be kept in %s: %w", dir, err)
	}
	return LookAtSpool(dir, limit), nil
}

// LookAtSpool returns the findings of CheckSpool, and changes nothing.
func LookAtSpool(dir string, limit int64) (findings []string) {
	disk, known := diskOf(dir)
	if !known {
		return nil
	}
	if disk.memory != "" {
		findings = append(findings, fmt.Sprintf("request bodies are kept in %s, which is memory (%s)", dir, disk.memory))
	}
	if disk.free < uint64(max(limit, 0)) {
		findings = append(findings, fmt.Sprintf("request bodies are kept in %s, which has %s free, less than spool_limit (%s)",
			dir, humanize.IBytes(disk.free), humanize.IBytes(uint64(limit))))
	}
	return findings
}

// disk is what the system says about the disk of a directory.
type disk struct {
	memory string // the kind of a file system that is memory, else ""
	free   uint64 // bytes that this process may still write
}
