package command

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/records"
)

// sourceLog is a log that is read several times.
type sourceLog struct {
	name  string // as the user has it
	file  string
	lines int   // that count, at the first reading; a log may grow afterwards
	lost  error // why its end could not be read
}

// maxSpool bounds what standard input may put into a file, in bytes.
const maxSpool = 1 << 30

var errSpool = fmt.Errorf("-: standard input has more than %d MiB; name files", maxSpool>>20)

// openLogs returns each log once, though a file may have several names. Standard input goes into
// a file, which done removes. Copies are names of compressed files that are left out, since
// their content also stands in a plain file.
func openLogs(cmd *cobra.Command, names []string) (logs []*sourceLog, copies []string, done func(), err error) {
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
				logs = append(logs, &sourceLog{name: name, file: spooled, lines: math.MaxInt})
			}
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, done, err
		}
		if !slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
			files, logs = append(files, info), append(logs, &sourceLog{name: name, file: name, lines: math.MaxInt})
		}
	}
	logs = slices.DeleteFunc(logs, func(l *sourceLog) bool {
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
	f, err := os.CreateTemp("", "restwarden-log-")
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

// each reads the log. What goes wrong with it is kept; what was read before counts. The error is that of v.
func (l *sourceLog) each(v records.Visit) (n records.Counts, stopped error) {
	in, broken := records.Open(l.file)
	if broken != nil {
		l.lost = broken
		return n, nil
	}
	n, l.lost = records.Each(in, l.lines, records.Visit{Record: keeping(&stopped, v.Record), Call: keeping(&stopped, v.Call), Access: keeping(&stopped, v.Access)})
	l.lost = cmp.Or(l.lost, in.Close())
	return n, stopped
}

// keeping returns f with its error put into first; nil for nil.
func keeping[T any](first *error, f func(*T) error) func(*T) error {
	if f == nil {
		return nil
	}
	return func(line *T) error {
		*first = cmp.Or(*first, f(line))
		return nil
	}
}

// openedLogs is openLogs for a command: it says which files are left out, and returns the exit status for an error.
func openedLogs(cmd *cobra.Command, names []string) (logs []*sourceLog, done func(), status int, err error) {
	logs, copies, done, err := openLogs(cmd, names)
	for _, name := range copies {
		cmd.PrintErrf("%s: left out, its content is the beginning of the plain file of that name\n", escapedText(name))
	}
	status = exitUsage
	if errors.Is(err, errSpool) {
		status = exitUnknown
	}
	return logs, done, status, err
}

// lostLogs says which logs cannot be read to their end. It returns an error if there are any.
func lostLogs(cmd *cobra.Command, logs []*sourceLog) error {
	lost := 0
	for _, log := range logs {
		if log.lost != nil {
			lost++
			cmd.PrintErrf("%s: cannot be read to its end; what was read of it counts: %s\n", escapedText(log.name), escapedText(log.lost.Error()))
		}
	}
	if lost > 0 {
		return fmt.Errorf("logs that cannot be read to their end: %d", lost)
	}
	return nil
}

// sinceTime reads --since, "" for none. A duration counts back from the last line in question, not from
// now: the same logs give the same answer.
func sinceTime(cmd *cobra.Command, text string, last func() time.Time) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	at, ok := records.ParseTime(text)
	if ok {
		return at, nil
	}
	d, err := caddy.ParseDuration(text)
	if err != nil || d <= 0 {
		return at, fmt.Errorf("--since: %q is neither a time (2026-01-31) nor a duration (7d)", text)
	}
	if at = last(); at.IsZero() {
		return at, nil
	}
	at = at.Add(-d)
	cmd.PrintErrf("since %s, which is %s before the last record\n", at.Format(time.RFC3339), text)
	return at, nil
}

// linesRead says what was read: what counts, then what does not.
func linesRead(n records.Counts, counted string, more ...readCount) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lines read: %d; %s", n.Lines, counted)
	for _, m := range append(more, readCount{"no JSON, skipped", int64(n.NoJSON)}, readCount{"of another version, skipped", int64(n.Newer)}, readCount{"longer than any record, skipped", int64(n.TooLong)}) {
		if m.n > 0 {
			fmt.Fprintf(&b, "; %s: %d", m.what, m.n)
		}
	}
	return b.String()
}

// readCount is how many lines were of a kind.
type readCount struct {
	what string
	n    int64
}
