package corpus

import (
	"errors"
	"os"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	list, err := Read[int](fstest.MapFS{"a/x.json": {Data: []byte("7")}, "y.json": {Data: []byte("8\n")}})
	if err != nil || len(list) != 2 || list[0]+list[1] != 15 {
		t.Error(list, err)
	}
	if _, err := Read[int](fstest.MapFS{}); !errors.Is(err, ErrEmpty) {
		t.Error("nothing is read:", err)
	}
	if _, err := Read[int](fstest.MapFS{"x.json": {Data: []byte("x")}}); err == nil {
		t.Error("no error for what is no JSON")
	}
}

func TestKeep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	kept := Keep("x-*.json", 7)
	text, err := os.ReadFile(kept)
	if err != nil || string(text) != "7\n" {
		t.Errorf("%q in %s, %v", text, kept, err)
	}
	if got := Keep("x", func() {}); got == "" {
		t.Error("no word of what cannot be kept")
	}
}
