package records

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what a log compressed by zstd makes the reader keep, in bytes. Caddy's own
// files need 8 MiB.
const maxWindow = 32 << 20

// Open opens a log, also one that Caddy has rotated and compressed. The caller must close it.
func Open(file string) (io.ReadCloser, error) {
	f, err := os.Open(file) //nolint:gosec // the user of the command names the file
	if err != nil {
		return nil, err
	}
	plain, err := Plain(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return opened{plain, f}, nil
}

// opened closes the file together with what reads it.
type opened struct {
	io.ReadCloser
	file *os.File
}

// Close implements io.Closer.
func (o opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.file.Close()) }

// Plain returns a log as text, whether or not it is compressed by gzip or zstd. The first bytes
// tell, not a name. The caller must close it; that does not close log.
func Plain(log io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(log)
	begin, err := in.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		return gzip.NewReader(in)
	case bytes.Equal(begin, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(in), nil
}
