package mutation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// door is a package whose tests notice all but one mutant.
var door = map[string]string{
	"go.mod": "module example.com/door\n\ngo 1.26\n",
	"lock/lock.go": `package lock

const both = len("lock") == 4 || false

type Door struct{ locked, hidden bool }

func (d *Door) Opens(key bool, n int) bool {
	return (!d.locked || key) && both &&
		n < 3
}
`,
	"lock/lock_test.go": `package lock

import "testing"

func TestOpens(t *testing.T) {
	for _, tt := range []struct{ locked, key bool; n int; want bool }{
		{false, false, 1, true}, {true, true, 1, true}, {true, false, 1, false}, {true, true, 4, false},
	} {
		if d := (&Door{locked: tt.locked}); d.Opens(tt.key, tt.n) != tt.want {
			t.Error(tt)
		}
	}
}
`,
}

// doorRun writes the module.
func doorRun(t *testing.T) Run {
	t.Helper()
	root := t.TempDir()
	for name, text := range door {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Run{Root: root, Module: "example.com/door", Dir: t.TempDir(), Limit: time.Minute}
}

// TestConditions: each part of a condition is left out once, and not one of a constant. What no test notices survives.
func TestConditions(t *testing.T) {
	t.Parallel()
	r, p := doorRun(t), Package{Dir: "lock"}
	c, err := r.Conditions(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := c.Try(t.Context(), 0); err != nil || status != Survived {
		t.Fatal("without a mutant:", status, err)
	}
	var got []string
	for i, m := range c.Mutants {
		if m.Status, err = c.Try(t.Context(), i+1); err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Status)+" "+m.Place+" "+m.Operator+" "+m.Text)
		if name := "lock Door.Opens " + m.Operator + "\n\t" + m.Text; m.Name() != name {
			t.Errorf("%s is called %s", name, m.Name())
		}
	}
	want := []string{
		"killed lock.go:8 DROPPED_CONDITION return [(!d.locked || key) && both] &&",
		"killed lock.go:9 DROPPED_CONDITION [n < 3]",
		"killed lock.go:8 DROPPED_CONDITION return [(!d.locked || key)] && both &&",
		"survived lock.go:8 DROPPED_CONDITION return (!d.locked || key) && [both] &&",
		"killed lock.go:8 DROPPED_CONDITION return ([!d.locked] || key) && both &&",
		"killed lock.go:8 DROPPED_CONDITION return (!d.locked || [key]) && both &&",
		"killed lock.go:8 DROPPED_NEGATION return ([!d.locked] || key) && both &&",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRead: a mutant of gremlins is the operator at its place.
func TestRead(t *testing.T) {
	t.Parallel()
	r := doorRun(t)
	const report = `{"files":[{"file_name":"lock.go","mutations":[` +
		`{"type":"CONDITIONALS_BOUNDARY","status":"LIVED","line":9,"column":5},{"type":"INVERT_LOGICAL","status":"KILLED","line":8,"column":28}]}]}`
	all, err := r.read(Package{Dir: "lock"}, []byte(report))
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if m := all[0]; m.Name() != "lock Door.Opens CONDITIONALS_BOUNDARY\n\tn [<] 3" || m.Status != Survived || m.Place != "lock.go:9" {
		t.Errorf("%+v", m)
	}
	if m := all[1]; m.Text != "return (!d.locked || key) [&&] both &&" || m.Status != Killed {
		t.Errorf("%+v", m)
	}
	for _, wrong := range []string{
		`{}`, `[]`, strings.Replace(report, "lock.go", "other.go", 1), strings.Replace(report, "LIVED", "NOT COVERED", 1),
	} {
		if all, err := r.read(Package{Dir: "lock"}, []byte(wrong)); err == nil {
			t.Errorf("%s: %v", wrong, all)
		}
	}
}

// TestAccepted: an accepted survivor is known by its code, and is stale where that is gone.
func TestAccepted(t *testing.T) {
	t.Parallel()
	r := doorRun(t)
	const list = `# a comment

lock Door.Opens DROPPED_CONDITION
	return (!d.locked || key) && [both] &&
	It is always true,
	and says why.

lock Door.Opens CONDITIONALS_BOUNDARY
	n [<] 4
	The bound was another one.

lock Door.Shuts DROPPED_NEGATION
	n [<] 3
	The function was another one.
`
	accepted, err := ReadAccepted(list)
	if err != nil || len(accepted) != 3 {
		t.Fatal(accepted, err)
	}
	if why := accepted["lock Door.Opens DROPPED_CONDITION\n\treturn (!d.locked || key) && [both] &&"]; why != "It is always true, and says why." {
		t.Errorf("the reason is %q", why)
	}
	stale, err := accepted.Stale(r.Root)
	want := []string{"lock Door.Opens CONDITIONALS_BOUNDARY\n\tn [<] 4", "lock Door.Shuts DROPPED_NEGATION\n\tn [<] 3"}
	if err != nil || !slices.Equal(stale, want) {
		t.Errorf("stale are %q, %v", stale, err)
	}
	for _, wrong := range []string{"lock Door.Opens X\n\tn [<] 3\n", "a b c\n\td\n\twhy\n\na b c\n\td\n\twhy not\n"} {
		if all, err := ReadAccepted(wrong); err == nil {
			t.Errorf("%q: %v", wrong, all)
		}
	}
}

// TestCovers: mutants are those of the files that are named.
func TestCovers(t *testing.T) {
	t.Parallel()
	all, some := Package{Dir: "lock"}, Package{Dir: "lock", Files: []string{"lock.go"}}
	if !all.covers("x.go") || !some.covers("lock.go") || some.covers("x.go") || all.covers("x_test.go") {
		t.Error("other files")
	}
	if _, err := (Package{Dir: "lock", Files: []string{"gone.go"}}).sources(doorRun(t).Root); err == nil {
		t.Error("a file that is gone is not missed")
	}
}
