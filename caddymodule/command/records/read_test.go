package records_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
)

// TestEach_Long: a line that is longer than any record is skipped and counted, and the records
// around it are read.
func TestEach_Long(t *testing.T) {
	t.Parallel()
	long := strings.Replace(refused, `"why":"w"`, `"why":"`+strings.Repeat("w", 1<<20)+`"`, 1)
	for name, c := range map[string]struct {
		log    string
		counts records.Counts
	}{
		"between":  {refused + "\n" + long + "\n" + refused, records.Counts{Lines: 3, TooLong: 1, Records: 2}},
		"last":     {refused + "\n" + long, records.Counts{Lines: 2, TooLong: 1, Records: 1}},
		"no line":  {strings.Repeat("x", 5<<20), records.Counts{Lines: 1, TooLong: 1}},
		"just not": {strings.Repeat("x", 1<<20), records.Counts{Lines: 1, NoJSON: 1}},
	} {
		found := 0
		counts, err := records.Each(strings.NewReader(c.log), math.MaxInt, records.Visit{Record: func(*records.Record) error {
			found++
			return nil
		}})
		if counts != c.counts || found != counts.Records || err != nil {
			t.Errorf("%s: %+v, %d found, %v; want %+v", name, counts, found, err, c.counts)
		}
	}
}

// passed is a line of the journal.
const passed = `{"level":"info","ts":1767225600.5,"logger":"http.handlers.restwarden.journal","msg":"call passed","v":1,"request_id":"a","site":"shop.example.com","host":"shop.example.com","client_ip":"203.0.113.7","credential":{"kind":"key","key":"3f9a01c"},"caller":"key","method":"PUT","route":"/wc/v3/orders/:id","ids":[7],"members":["policy"],"status":200,"took":0.5}`

// TestEach_Calls: lines of the journal are read beside records, in any form of times, and others are not.
func TestEach_Calls(t *testing.T) {
	t.Parallel()
	edited := func(old, text string) string { return strings.Replace(passed, old, text, 1) }
	for name, c := range map[string]struct {
		log    string
		counts records.Counts
	}{
		"one":               {passed, records.Counts{Lines: 1, Calls: 1}},
		"beside a record":   {refused + "\n" + passed, records.Counts{Lines: 2, Calls: 1, Records: 1}},
		"without members":   {edited(`,"members":["policy"]`, ""), records.Counts{Lines: 1, Calls: 1}},
		"a text for took":   {edited(`"took":0.5`, `"took":"500ms"`), records.Counts{Lines: 1, Calls: 1}},
		"another version":   {edited(`"v":1`, `"v":2`), records.Counts{Lines: 1, Newer: 1}},
		"no request":        {edited(`"request_id":"a",`, ""), records.Counts{Lines: 1}},
		"another message":   {edited(`call passed","v"`, `a call passed","v"`), records.Counts{Lines: 1}},
		"a wrong member":    {edited(`"status":200`, `"status":"200"`), records.Counts{Lines: 1}},
		"a policy is there": {edited(`"caller"`, `"policy":"access","caller"`), records.Counts{Lines: 1, Records: 1}},
		"cut off":           {passed[:200], records.Counts{Lines: 1, NoJSON: 1}},
	} {
		var found []*records.Call
		n, err := records.Each(strings.NewReader(c.log), math.MaxInt, records.Visit{Call: func(of *records.Call) error {
			found = append(found, of)
			return nil
		}})
		if err != nil || n != c.counts || len(found) != n.Calls {
			t.Errorf("%s: %+v, %v, want %+v", name, n, err, c.counts)
		}
		if len(found) > 0 && (found[0].Credential.Key != "3f9a01c" || found[0].Route != "/wc/v3/orders/:id" || found[0].Status != 200 || found[0].ClientIP != "203.0.113.7") {
			t.Errorf("%s: %+v", name, found[0])
		}
	}
}

// TestOpen: a log is read as Caddy writes and rolls it, whatever its name.
func TestOpen(t *testing.T) {
	t.Parallel()
	const log = refused + "\n" + refused + "\n"
	zip := func(part string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, part) // into memory
		_ = z.Close()
		return b.String()
	}
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(z, log) // into memory
	_ = z.Close()
	for name, c := range map[string]struct {
		text    string
		records int
		fails   bool
	}{
		"plain.log":        {log, 2, false},
		"empty.log":        {"", 0, false},
		"short.log":        {"x", 0, false},
		"rolled.log.gz":    {zip(log), 2, false},
		"two.log.gz":       {zip(log) + zip(log), 4, false},
		"rolled.log.zst":   {b.String(), 2, false},
		"other-name.log":   {zip(log), 2, false},
		"cut-off.log.gz":   {zip(log)[:30], 0, true},
		"cut-off.log.zst":  {b.String()[:b.Len()-8], 0, true},
		"no-header.log.gz": {"\x1f\x8b", 0, true},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := records.Open(file)
		var counts records.Counts
		if err == nil {
			counts, err = records.Each(in, math.MaxInt, records.Visit{})
			if err := in.Close(); err != nil && !c.fails {
				t.Errorf("%s: %v", name, err)
			}
		}
		if (err != nil) != c.fails || !c.fails && counts.Records != c.records {
			t.Errorf("%s: %+v, %v", name, counts, err)
		}
	}
	if _, err := records.Open(filepath.Join(t.TempDir(), "missing.log")); err == nil {
		t.Error("a missing log is read")
	}
}

// seeds are lines of all kinds.
var seeds = []string{
	refused, access, newer, "x\n" + refused, "{}\n[]\nnull\n1", `{"v":1,"request_id":"a","policy":null}`, refused + "\r\n\n " + refused,
	`{"policy":1}`, passed, passed + "\n" + refused, strings.Replace(passed, `"v":1`, `"v":2`, 1), strings.Replace(passed, `"took":0.5`, `"took":"500ms"`, 1), "\x1f\x8b", "\x28\xb5\x2f\xfd" + refused,
}

// FuzzEach: every line that is not blank is counted once, as one kind, and a record is of the
// known version, whatever stands in the log.
func FuzzEach(f *testing.F) {
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		if plain, err := records.Plain(bytes.NewReader(log)); err == nil {
			_, _ = records.Each(io.LimitReader(plain, 1<<20), math.MaxInt, records.Visit{}) // it ends
			_ = plain.Close()
		}
		visited, calls, requests := 0, 0, 0
		n, err := records.Each(bytes.NewReader(log), math.MaxInt, records.Visit{Record: func(r *records.Record) error {
			if visited++; r.Version != record.Version {
				t.Errorf("%+v", r)
			}
			return nil
		}, Call: func(c *records.Call) error {
			if calls++; c.Version != record.Version || c.RequestID == "" {
				t.Errorf("%+v", c)
			}
			return nil
		}, Access: func(a *records.Access) error {
			if requests++; a.Method == "" || a.URI == "" {
				t.Errorf("%+v", a)
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(log) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if n.Lines != lines || visited != n.Records || calls != n.Calls || requests != n.Requests || n.Records+n.Calls+n.Requests+n.NoJSON+n.Newer+n.TooLong > n.Lines {
			t.Errorf("%d lines, %+v, %d visited", lines, n, visited)
		}
	})
}
