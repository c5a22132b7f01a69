package phpvars

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// tokens are what decides where a line, a piece of one, or a part ends.
var tokens = []string{
	"\n", "\r\n", "--B", "--B\n", "--B\r\n", "--B--\r\n", "--BX\n", "-", "x", "\x00", "name: value\r\n",
	strings.Repeat("\n", 700), strings.Repeat("y", fillUnit-3), strings.Repeat("z", fillUnit), strings.Repeat("--Bx\n", 900), strings.Repeat("w", 16<<10),
}

func readerOf(body string) *multipartReader {
	return &multipartReader{br: bufio.NewReaderSize(strings.NewReader(body), 16<<10), boundary: []byte("--B")}
}

// rest returns how much of the body has not been read.
func rest(m *multipartReader) int {
	b, _ := io.ReadAll(m.br)
	return len(b)
}

// TestSkippedLines: what is skipped in one go ends where reading line by line
// ends, however lines, pieces of lines and buffers meet.
func TestSkippedLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		body := b.String()

		one, all := readerOf(body), readerOf(body)
		for found := false; !found; {
			line, size, ok := one.line()
			if !ok {
				break
			}
			found = bytes.Equal(line, one.boundary)
			one.discard(size)
		}
		for found := false; !found; {
			all.skipLines()
			line, size, ok := all.line()
			if !ok {
				break
			}
			found = bytes.Equal(line, all.boundary)
			all.discard(size)
		}
		if a, b := rest(one), rest(all); a != b {
			t.Fatalf("%d bytes are left of a preamble, %d line by line: %.300q", b, a, body)
		}

		one, all = readerOf(body), readerOf(body)
		one.value(true, MaxValues)
		all.value(false, MaxValues)
		if a, b := rest(one), rest(all); a != b {
			t.Fatalf("%d bytes are left behind a value, %d line by line: %.300q", b, a, body)
		}
	}
}
