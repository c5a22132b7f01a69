package mutation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// The operators that gremlins does not have.
const (
	DroppedCondition = "DROPPED_CONDITION" // a && b becomes b, or a
	DroppedNegation  = "DROPPED_NEGATION"  // !a becomes a
)

// Conditions are the mutants of a package in which part of a condition is missing. All of them are built into one
// program, which takes the number of one from its environment: `a && b` is `(mutant(7) || a) && (mutant(8) || b)` there.
type Conditions struct {
	Mutants  []Mutant
	run      Run
	programs []program // the tests that judge them
}

// program is the tests of a package.
type program struct {
	path, dir string
	args      []string
}

// variable has the number of the mutant that is tried.
const variable = "RESTWARDEN_MUTANT"

// chosen is added to the package. Mutants are counted from 1.
const chosen = `package %s

import (
	"os"
	"strconv"
)

var mutantChosen, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutant(n int) bool { return n == mutantChosen }
`

// Conditions builds the tests that judge p, with all mutants in them.
func (r Run) Conditions(ctx context.Context, p Package) (*Conditions, error) {
	c := &Conditions{run: r}
	dir, err := os.MkdirTemp(r.Dir, "conditions-")
	if err != nil {
		return nil, err
	}
	files, err := p.sources(r.Root)
	if err != nil {
		return nil, err
	}
	changed := map[string][]byte{"mutant_chosen.go": fmt.Appendf(nil, chosen, files[0].file.Name)}
	for _, s := range files {
		var inserted insertions
		for _, o := range s.omissions() {
			m := s.mutant(o.operator, s.offset(o.Pos()), s.offset(o.End()))
			m.Package = p.Dir
			c.Mutants = append(c.Mutants, m)
			inserted = append(inserted, insertion{s.offset(o.Pos()), s.offset(o.End()), fmt.Sprintf(o.without, len(c.Mutants))})
		}
		changed[s.name] = inserted.into(s.text)
	}
	overlay := map[string]string{}
	for name, text := range changed {
		overlay[filepath.Join(r.Root, p.Dir, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err := cmp.Or(err, os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)); err != nil {
		return nil, err
	}
	for i, tests := range append([]string{p.Dir}, p.Tests...) {
		test := program{filepath.Join(dir, strconv.Itoa(i)+".test"), filepath.Join(r.Root, tests), []string{"-test.failfast", "-test.timeout=" + r.Limit.String()}}
		out, err := machine.Run(ctx, r.Root, nil, "go", "test", "-c", "-vet=off", "-overlay="+filepath.Join(dir, "overlay.json"), "-o", test.path, "./"+tests)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		// Random tests keep what they have failed on, beside their package.
		if _, err := machine.Run(ctx, test.dir, nil, test.path, "-test.run=^$", "-rapid.nofailfile"); err == nil {
			test.args = append(test.args, "-rapid.nofailfile")
		}
		c.programs = append(c.programs, test)
	}
	return c, nil
}

// Try runs the tests on the mutant of a number, which counts from 1; number 0 is the package as it is.
func (c *Conditions) Try(ctx context.Context, number int) (Status, error) {
	for _, test := range c.programs {
		out, err := machine.Run(ctx, test.dir, []string{variable + "=" + strconv.Itoa(number)}, test.path, test.args...)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if status := statusOf(out, err); status != Survived {
			return status, nil
		}
	}
	return Survived, nil
}

// statusOf says what became of a mutant whose tests have ended.
func statusOf(out string, err error) Status {
	switch {
	case err == nil:
		return Survived
	case strings.Contains(out, "panic: test timed out after"):
		return TimedOut
	}
	return Killed
}

// omission is an expression that is left out, and what is written for it, with the number of the mutant.
type omission struct {
	ast.Expr
	operator, without string
}

// omissions returns what can be left out of the conditions of a file. An outer expression comes before its parts.
func (s *source) omissions() (all []omission) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST // a constant has no choice
		case *ast.BinaryExpr:
			without := map[token.Token]string{token.LAND: "(mutant(%d) || (", token.LOR: "(!mutant(%d) && ("}[n.Op]
			if without != "" {
				all = append(all, omission{n.X, DroppedCondition, without}, omission{n.Y, DroppedCondition, without})
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				all = append(all, omission{n, DroppedNegation, "(mutant(%d) != ("})
			}
		}
		return true
	})
	return all
}

// insertion puts something with two open parentheses before an expression, and closes them behind it.
type insertion struct {
	start, end int
	before     string
}

type insertions []insertion

// into returns text with all insertions. One that is around another comes before it in the list.
func (all insertions) into(text []byte) (changed []byte) {
	for at := range len(text) + 1 {
		for _, i := range slices.Backward(all) {
			if i.end == at {
				changed = append(changed, "))"...)
			}
		}
		for _, i := range all {
			if i.start == at {
				changed = append(changed, i.before...)
			}
		}
		if at < len(text) {
			changed = append(changed, text[at])
		}
	}
	return changed
}
