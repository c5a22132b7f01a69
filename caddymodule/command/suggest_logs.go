package command

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
)

// suggestLog is a log that is read several times.
type suggestLog struct {
	name    string // as the user has it
	file    string
	records int   // at the first reading; a log may grow afterwards
	lost    error // why its end could not be read
}

// maxSpool bounds what standard input may put into a file, in bytes.
const maxSpool = 1 << 30

var errSpool = fmt.Errorf("-: standard input has more than %d MiB; name files", maxSpool>>20)

// openLogs returns each log once, though a file may have several names. Standard input goes into
// a file, which done removes. Copies are names of compressed files that are left out, since
// their content also stands in a plain file.
func openLogs(cmd *cobra.Command, names []string) (logs []*suggestLog, copies []string, done func(), err error) {
	var files []os.FileInfo
	var spooled string
	done = func() {
		if spooled != "" {
			_ = os.Remove(spooled) // in the directory for such files
		}
	}
	for _, name := range names {
		if name == "-" {
			if spooled == "" {
				if spooled, err = spoolInput(cmd.InOrStdin()); err != nil {
					return nil, nil, done, err
				}
				logs = append(logs, &suggestLog{name: name, file: spooled, records: math.MaxInt})
			}
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, done, err
		}
		if !slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
			files, logs = append(files, info), append(logs, &suggestLog{name: name, file: name, records: math.MaxInt})
		}
	}
	logs = slices.DeleteFunc(logs, func(l *suggestLog) bool {
		is := isCopy(l.file, names)
		if is {
			copies = append(copies, l.name)
		}
		return is
	})
	return logs, copies, done, nil
}

// spoolInput writes standard input to a file.
func spoolInput(in io.Reader) (file string, err error) {
	f, err := os.CreateTemp("", "restwarden-suggest-")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(in, maxSpool+1))
	if err = cmp.Or(err, f.Close()); err == nil && n > maxSpool {
		err = errSpool
	}
	return f.Name(), err
}

// isCopy tells whether a file is one that Caddy compresses, or has just compressed: another
// name is the same without the ending, and that file begins with the content of this one.
func isCopy(file string, names []string) bool {
	plain, compressed := strings.CutSuffix(file, ".gz")
	if !compressed {
		plain, compressed = strings.CutSuffix(file, ".zst")
	}
	named := slices.ContainsFunc(names, func(name string) bool { return filepath.Clean(name) == filepath.Clean(plain) })
	if !compressed || !named {
		return false
	}
	whole, err := os.Open(plain) //nolint:gosec // the user of the command names the file
	if err != nil {
		return false
	}
	defer func() { _ = whole.Close() }() // it was only read
	begin, err := records.Open(file)
	if err != nil { // nothing of it can be read, so that nothing of it can count twice
		return false
	}
	defer func() { _ = begin.Close() }()
	return beginsWith(whole, begin)
}

// beginsWith tells whether a log begins with all of another that can be read.
func beginsWith(whole, begin io.Reader) bool {
	const size = 64 << 10
	in, other, part := bufio.NewReaderSize(whole, size), make([]byte, size), make([]byte, size)
	for {
		n, err := begin.Read(part)
		if _, short := io.ReadFull(in, other[:n]); short != nil || !bytes.Equal(part[:n], other[:n]) {
			return false
		}
		if err != nil {
			return true
		}
	}
}

// each reads the log. What goes wrong with it is kept; what was read before counts. The error is
// that of take.
func (l *suggestLog) each(take func(*records.Record) error) (n records.Counts, stopped error) {
	in, broken := records.Open(l.file)
	if broken != nil {
		l.lost = broken
		return n, nil
	}
	n, l.lost = suggest.Scan(in, l.records, func(rec *records.Record) error {
		stopped = cmp.Or(stopped, take(rec))
		return nil
	})
	l.lost = cmp.Or(l.lost, in.Close())
	return n, stopped
}
