package environment

import "testing"

func TestSeed(t *testing.T) {
	for _, c := range []struct {
		seed, nightly string
		want          uint64 // 0 for the clock's
		fails         bool
	}{
		{"", "", 7, false},
		{"0", "0s", 7, false},
		{"12", "", 12, false},
		{"", "2h", 0, false},
		{"12", "2h", 12, false},
		{"x", "", 0, true},
		{"", "x", 0, true},
	} {
		t.Setenv("RESTWARDEN_SEED", c.seed)
		t.Setenv("RESTWARDEN_NIGHTLY", c.nightly)
		got, err := Seed(7)
		switch {
		case (err != nil) != c.fails:
			t.Errorf("%+v: %v", c, err)
		case !c.fails && c.want == 0 && got == 7:
			t.Errorf("%+v: the usual seed", c)
		case c.want > 0 && got != c.want:
			t.Errorf("%+v: %d", c, got)
		}
	}
}
