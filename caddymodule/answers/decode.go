package answers

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/restwarden/restwarden/policies/policy"
)

// Bounds of the answers that are decoded to be learned from. A page of 100 large orders has
// a megabyte before it is encoded.
const (
	decodedAtOnce = 32      // in this process
	waitingBytes  = 1 << 20 // of one answer, encoded, that its decoder has not taken yet
	encodedBytes  = 8 << 20 // of one answer
	zstdWindow    = 8 << 20 // the largest that clients must know, too (RFC 8878)
	decoderMemory = 64 << 20
)

// decoderCosts is the memory that a decoder holds until its answer ends, by encoding: its
// window, its tables and what is on the way through it.
var decoderCosts = map[string]int64{"gzip": 96 << 10, "zstd": zstdWindow + 256<<10}

// decoders has a place for each answer that is decoded.
var decoders = make(chan struct{}, decodedAtOnce)

// encodingOf returns the encoding of an answer that can be learned from.
func encodingOf(h http.Header) (encoding string, known bool) {
	values := h["Content-Encoding"]
	if len(values) == 0 {
		return "", true
	}
	encoding = strings.ToLower(values[0])
	return encoding, len(values) == 1 && (encoding == "gzip" || encoding == "zstd")
}

// decoding decodes a copy of an answer in a goroutine of its own, so that the client waits
// neither for the decoder nor for its failure. The goroutine ends with the answer at the
// latest.
type decoding struct {
	Account
	mu      sync.Mutex
	more    sync.Cond
	waiting [][]byte
	held    int // bytes in waiting
	taken   int // bytes so far
	ended   bool
	whole   bool
	given   bool // up: nothing is read any more
}

// startDecoding returns nil if too many answers are decoded already, or where the account has
// no memory for it.
func startDecoding(encoding string, l policy.Lesson, by Account) *decoding {
	select {
	case decoders <- struct{}{}:
	default:
		return nil
	}
	cost := decoderCosts[encoding]
	if !by.take(cost) {
		<-decoders
		return nil
	}
	d := &decoding{Account: by}
	d.more.L = &d.mu
	go func() {
		defer func() {
			by.free(cost)
			<-decoders
		}()
		l.End(d.decode(encoding, l) == nil)
	}()
	return d
}

// decode decodes all that is written, up to the end. A fault of a decoder must not end the
// process.
func (d *decoding) decode(encoding string, l policy.Lesson) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		d.giveUp()
	}()
	if encoding == "zstd" {
		return d.unzstd(l)
	}
	z, err := gzip.NewReader(d)
	if err != nil {
		return err
	}
	_, err = io.Copy(lessonWriter{l}, z) //nolint:gosec // the lesson bounds what it takes
	return err
}

// zstds recycles decoders, which are large.
var zstds = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderMaxMemory(decoderMemory), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil
	}
	return z
}}

func (d *decoding) unzstd(l policy.Lesson) error {
	z, _ := zstds.Get().(*zstd.Decoder)
	if z == nil {
		return errors.New("no decoder")
	}
	if err := z.Reset(d); err != nil {
		return err
	}
	_, err := io.Copy(lessonWriter{l}, z)
	if err != nil || z.Reset(nil) != nil {
		z.Close() // what it holds is uncertain
		return err
	}
	zstds.Put(z)
	return nil
}

// lessonWriter hides all but Write, so that io.Copy takes pieces of its own.
type lessonWriter struct{ lesson policy.Lesson }

// Write implements io.Writer.
func (w lessonWriter) Write(b []byte) (int, error) { return w.lesson.Write(b) }

// write implements pupil. It copies b, which belongs to the sender.
func (d *decoding) write(b []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken += len(b)
	if d.given || d.held+len(b) > waitingBytes || d.taken > encodedBytes || !d.take(int64(len(b))) {
		return false
	}
	d.held += len(b)
	d.waiting = append(d.waiting, append([]byte(nil), b...))
	d.more.Signal()
	return true
}

// end implements pupil.
func (d *decoding) end(whole bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended, d.whole = true, whole
	d.more.Signal()
}

func (d *decoding) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free(int64(d.held))
	d.given, d.waiting, d.held = true, nil, 0
}

// Read serves the decoder. An answer that breaks off has no proper end.
func (d *decoding) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.waiting) == 0 && !d.ended {
		d.more.Wait()
	}
	switch {
	case d.ended && !d.whole:
		return 0, io.ErrUnexpectedEOF
	case len(d.waiting) == 0:
		return 0, io.EOF
	}
	n := copy(p, d.waiting[0])
	d.held -= n
	d.free(int64(n))
	if d.waiting[0] = d.waiting[0][n:]; len(d.waiting[0]) == 0 {
		d.waiting = d.waiting[1:]
	}
	return n, nil
}
