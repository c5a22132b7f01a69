package caller

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var sharedSeeds = []string{
	`{"mark":"m","until":1800000005000,"kind":1,"id":1,"roles":["administrator"],"capabilities":["read"]}`,
	`{"mark":"m","until":1800000005000,"kind":2}`,
	`{"mark":"m","until":1800000005000,"kind":0}`,
	`{"mark":"m","until":1800000005000,"kind":1}`,
	`{"mark":"m","until":1799999999000,"kind":1,"id":1}`,
	`{"mark":"n","until":1800000005000,"kind":1,"id":1}`,
	`{"mark":"m","until":1800000005000,"kind":9,"id":1}`,
	`{"mark":"m","until":1800000005000,"kind":1,"id":-1}`,
	`{"mark":"m","until":1800000005000,"kind":1,"id":1} x`,
	`{"mark":"m","until":1800000005000,"kind":1,"id":1,"admin":true}`,
	`null`, `[]`, `garbage`, ``,
}

func TestShared_Garbage(t *testing.T) {
	good := 0
	for _, text := range sharedSeeds {
		k := recalled{mark: "m"}
		if k.decode(text, time.Unix(1_800_000_000, 0)) {
			good++
		}
	}
	if good != 2 {
		t.Errorf("%d of the answers count, want the first two", good)
	}
}

// FuzzShared: a stored text is either a caller that the platform could have named, under
// the current mark and for no longer than it says, or nothing.
func FuzzShared(f *testing.F) {
	if len(sharedSeeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range sharedSeeds {
		f.Add(s)
	}
	now := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, text string) {
		k := recalled{mark: "m"}
		if !k.decode(text, now) {
			return
		}
		if k.left <= 0 || k.answer != nil || !strings.Contains(text, "m") {
			t.Errorf("%q: %+v", text, k)
		}
		if c := k.caller; c.Kind != User && c.Kind != KeyHolder || (c.Kind == User) != (c.ID != 0) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}

// FuzzDropping: a message never drops less than it says, and reads as written.
func FuzzDropping(f *testing.F) {
	seeds := []string{"all", "user 1", "user x", "login 1", "session 00ff 6162", "session 00ff zz", "session", "", "nonsense 1 2 3"}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s)
	}
	h := newHasher([]byte("secret"), true)
	f.Fuzz(func(t *testing.T, text string) {
		d := parseDropping(text)
		if again := parseDropping(d.String()); again != d {
			t.Errorf("%q: %+v, then %+v", text, d, again)
		}
		all := d.covers(identityEntry{identity: identity{caller: Caller{Kind: User, ID: 7}}, session: "s"}, h) &&
			d.covers(identityEntry{identity: identity{caller: Caller{Kind: User, ID: 8}}}, h)
		if known := slices.Contains([]dropKind{dropUser, dropLogin, dropSession}, d.whom); !known && !all {
			t.Errorf("%q drops %+v only", text, d)
		}
	})
}
