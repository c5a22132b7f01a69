package grammar

import "testing"

// TestRepetition: one seed makes the same requests, of every kind and in every place, and none
// is larger than its places.
func TestRepetition(t *testing.T) {
	doors := Doors{}
	for _, kind := range Kinds {
		doors[kind] = []string{"/door"}
	}
	found := map[string]int{}
	one, same := New(1, 0), New(1, 0)
	for range 100 {
		for _, kind := range Kinds {
			r := one.Repetition(kind, doors)
			if again := same.Repetition(kind, doors); string(r.Wire("a")) != string(again.Wire("a")) || r.Answer != again.Answer {
				t.Fatal("one seed, two requests")
			}
			found[r.Place]++
		}
	}
	all := Repetitions(doors)
	for _, r := range all {
		found[r.Place]++
		if size := len(r.Wire("a")); size > 2*mostOfBody || len(r.Target) > 2*mostOfHead || len(r.Answer) > 2*mostOfAnswer {
			t.Errorf("%s: %d bytes", r, size)
		}
	}
	for _, p := range places {
		if found[p.name] <= len(p.units) { // each unit, and some at random
			t.Errorf("%s: %d times", p.name, found[p.name])
		}
	}
}
