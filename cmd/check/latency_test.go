package main

import (
	"errors"
	"testing"
)

// TestFirstGood: one good run suffices, and the runs that fail are told where none is good.
func TestFirstGood(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		goodAt, runs int
		out          string
		fails        bool
	}{
		"the first":   {1, 1, "a", false},
		"the last":    {3, 3, "a", false},
		"none of all": {4, 3, "aaa", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			out, err := firstGood(3, func() (string, error) {
				if runs++; runs == tt.goodAt {
					return "a", nil
				}
				return "a", errors.New("too slow")
			})
			if runs != tt.runs || out != tt.out || (err != nil) != tt.fails {
				t.Errorf("%d runs, %q, %v", runs, out, err)
			}
		})
	}
}
