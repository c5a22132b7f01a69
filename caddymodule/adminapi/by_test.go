package adminapi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// FuzzCheckOperator: what is taken for a name stands in one line of a log, a table and a header, and is the same once it was told on.
func FuzzCheckOperator(f *testing.F) {
	for _, seed := range []string{"anna", "Anna Müller <a@example.com>", "", " a", "a\n", "a\x1b[2J", "\u202ea", "\xff", strings.Repeat("a", MaxOperator+1), "a\u00a0b", `"`, "a, claimed (10.0.0.1)", "\u3164", "\u2800a", "...", "a  b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckOperator(name) != nil {
			return
		}
		if name == "" || len(name) > MaxOperator || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("%q is taken", name)
		}
		text, err := json.Marshal(By{Address: "a", Operator: name})
		var back By
		if err != nil || json.Unmarshal(text, &back) != nil || back.Operator != name {
			t.Errorf("%q is %q: %v", name, back.Operator, err)
		}
		for _, by := range []By{{"a", name, false}, {"admin, ::1", name, true}} {
			if got := ParseBy(by.Text()); got != by {
				t.Errorf("%q is %+v", by.Text(), got)
			}
		}
	})
}

// TestBy: a name that was only claimed never reads like one that was told.
func TestBy(t *testing.T) {
	for want, by := range map[string]By{
		"127.0.0.1": {Address: "127.0.0.1"}, "anna (127.0.0.1)": {"127.0.0.1", "anna", false}, "anna, claimed (127.0.0.1)": {"127.0.0.1", "anna", true},
	} {
		if got := by.Who(); got != want {
			t.Error(got)
		}
	}
	for _, text := range []string{"", "127.0.0.1", `127.0.0.1, operator ""`, `x, operator "a(b"`, `x, operator "a" `} {
		if got := ParseBy(text); got != (By{Address: text}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
	if CheckOperator("anna") != nil || CheckOperator("Anna Müller") != nil || CheckOperator(strings.Repeat("a", MaxOperator)) != nil {
		t.Error("a name is refused")
	}
}
