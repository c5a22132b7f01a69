package refusals

import (
	"fmt"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/record"
)

// TestFollowers: a follower that does not read loses records, and is told how many.
func TestFollowers(t *testing.T) {
	t.Parallel()
	var e Followers
	f, _ := e.Follow()
	for i := range Waiting + 7 {
		e.Send(adminapi.Refusal{Record: record.Record{Method: fmt.Sprint(i)}})
	}
	if lost := f.Lost(); len(f.Records()) != Waiting || lost != 7 || f.Lost() != 0 {
		t.Errorf("%d kept, %d lost", len(f.Records()), lost)
	}
	for range maxFollowers - 1 {
		if _, err := e.Follow(); err != nil {
			t.Fatal("too few followers")
		}
	}
	if _, err := e.Follow(); err == nil {
		t.Error("too many followers")
	}
	e.Leave(f)
	e.End()
	if e.count.Load() != 0 {
		t.Error("somebody follows")
	}
}
