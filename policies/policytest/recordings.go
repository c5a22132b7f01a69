package policytest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// Recorded is one message that a real server has answered, see policies/mcp/testdata.
type Recorded struct {
	ID, Case, Server string
	Request          []byte
	Ran              []struct{ Ran string }
}

// Recordings returns the recorded messages. The test's folder is below policies/.
func Recordings(tb testing.TB) (list []Recorded) {
	tb.Helper()
	f, err := os.Open("../mcp/testdata/recorded.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		list = append(list, r)
	}
	if err := lines.Err(); err != nil || len(list) < 800 {
		tb.Fatalf("%d recordings, %v", len(list), err)
	}
	return list
}
