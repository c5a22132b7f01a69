package review

import (
	"testing"

	"github.com/restwarden/restwarden/policies/policy"
)

// TestFate: what two policies say together of one region.
func TestFate(t *testing.T) {
	a, b := policy.RuleNamed("a", ""), policy.RuleNamed("b", "")
	perhaps := func(by *policy.Rule) Fate {
		f := Fate{Passes: true, Why: by.String()}
		f.Add(false, by)
		return f
	}
	message := perhaps(a)
	message.ByMessage = true
	for name, test := range map[string]struct{ first, then, want Fate }{
		"both pass":            {Passes(a), Passes(b), Passes(a)},
		"the default, a line":  {Passes(nil), Passes(b), Passes(b)},
		"one refuses":          {Passes(a), Refuses(b), Fate{Refused: true, PassedBy: a, RefusedBy: b, SureRefused: true}},
		"one may refuse":       {Passes(a), perhaps(b), Fate{Passes: true, Refused: true, PassedBy: a, RefusedBy: b, Why: "b"}},
		"both may refuse":      {perhaps(a), perhaps(b), Fate{Passes: true, Refused: true, RefusedBy: a, Why: "a"}},
		"a message, and a no":  {message, Refuses(b), Fate{Refused: true, RefusedBy: a, SureRefused: true, Why: "a"}},
		"a message, and a yes": {message, Passes(b), Fate{Passes: true, Refused: true, ByMessage: true, PassedBy: b, RefusedBy: a, Why: "a"}},
	} {
		if got := test.first.Then(test.then); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
