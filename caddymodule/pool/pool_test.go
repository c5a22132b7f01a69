package pool

import (
	"errors"
	"slices"
	"testing"
)

type key struct{ name string }

// thing is a value that says when it is closed.
type thing struct{ closed int }

func (t *thing) Close() error {
	t.closed++
	return nil
}

// TestLease: holders share what one of them has constructed, the last release closes it, and
// what could not be constructed is not leased.
func TestLease(t *testing.T) {
	var first, second Leases
	made := new(thing)
	lease := func(l *Leases) *thing {
		t.Helper()
		v, err := Lease(l, key{"a"}, func() (*thing, error) { return made, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	lease(&first)
	made = new(thing)
	v := lease(&second)
	if v == made || References(key{"a"}) != 2 || !slices.Equal(slices.Collect(Values[*thing]()), []*thing{v}) {
		t.Errorf("%d references", References(key{"a"}))
	}
	for _, l := range []*Leases{&first, &first, &second, &second} {
		if v.closed != 0 && l != &second {
			t.Error("closed while it is leased")
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if v.closed != 1 || References(key{"a"}) != 0 {
		t.Errorf("closed %d times, %d references", v.closed, References(key{"a"}))
	}
	broken := errors.New("broken")
	if _, err := Lease(&first, key{"b"}, func() (*thing, error) { return nil, broken }); !errors.Is(err, broken) || References(key{"b"}) != 0 {
		t.Error(err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
}
