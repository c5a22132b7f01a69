package mutation

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Version is the pinned one of gremlins, and Tool its program.
const (
	Version = "v0.6.0"
	Tool    = "github.com/go-gremlins/gremlins/cmd/gremlins@" + Version
)

// operators are those that gremlins leaves out by default, and that are of use here.
var operators = []string{"--invert-assignments", "--invert-bitwise", "--invert-bwassign", "--invert-loopctrl", "--remove-self-assignments"}

// statuses are those of gremlins. NOT COVERED is not among them: go.sh says that tests reach everything.
var statuses = map[string]Status{
	"KILLED": Killed, "LIVED": Survived, "TIMED OUT": TimedOut, "NOT VIABLE": NotViable,
}

//go:embed go.sh
var goCommand []byte

// Install builds gremlins, once for all packages.
func (r Run) Install(ctx context.Context) error {
	goes, err := machine.LookPath("go")
	if err != nil {
		return err
	}
	if err := cmp.Or(os.MkdirAll(r.wrapped(), 0o700), os.WriteFile(filepath.Join(r.wrapped(), "go"), goCommand, 0o700)); err != nil { // #nosec G306 -- it is a program
		return err
	}
	out, err := machine.Run(ctx, r.Dir, []string{"GOBIN=" + r.Dir}, goes, "install", Tool)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// wrapped is the directory of go.sh under the name of the go command.
func (r Run) wrapped() string { return filepath.Join(r.Dir, "wrapped") }

// Gremlins tries the mutants of gremlins of a package, all of them.
func (r Run) Gremlins(ctx context.Context, p Package) ([]Mutant, error) {
	goes, err := machine.LookPath("go")
	if err != nil {
		return nil, err
	}
	report := filepath.Join(r.Dir, strings.ReplaceAll(p.Dir, "/", "-")+".json")
	env := []string{
		"PATH=" + r.wrapped() + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + r.Dir,
		"MUTATION_GO=" + goes, "MUTATION_DIR=" + filepath.Join(r.Root, p.Dir), "MUTATION_PACKAGE=" + r.path(p), "MUTATION_TESTS=" + strings.Join(r.tests(p), " "), "MUTATION_LIMIT=" + r.Limit.String(),
	}
	// Its own limit is a multiple of the time that the tests took, which may be no more than a look into the cache. A wide
	// one leaves it to that of go.sh, which does not count the build.
	args := append([]string{"unleash", "--timeout-coefficient", "200", "--output", report}, operators...)
	args = append(args, "--exclude-files", "/") // packages below this one
	files, err := os.ReadDir(filepath.Join(r.Root, p.Dir))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !p.covers(f.Name()) {
			args = append(args, "--exclude-files", "^"+regexp.QuoteMeta(f.Name())+"$")
		}
	}
	out, err := machine.Run(ctx, filepath.Join(r.Root, p.Dir), env, filepath.Join(r.Dir, "gremlins"), args...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return r.read(p, text)
}

// path is the import path of p.
func (r Run) path(p Package) string { return r.Module + "/" + p.Dir }

// tests returns the packages whose tests judge p.
func (r Run) tests(p Package) []string {
	all := []string{r.path(p)}
	for _, dir := range p.Tests {
		all = append(all, r.Module+"/"+dir)
	}
	return all
}

// read reads a report of gremlins.
func (r Run) read(p Package, text []byte) (all []Mutant, err error) {
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, err
	}
	files, err := p.sources(r.Root)
	if err != nil {
		return nil, err
	}
	byName := map[string]*source{}
	for _, s := range files {
		byName[s.name] = s
	}
	for _, f := range report.Files {
		s := byName[f.Name]
		if s == nil {
			return nil, fmt.Errorf("gremlins changed %s, which is not in %s", f.Name, p.Dir)
		}
		for _, m := range f.Mutations {
			start, end := s.token(m.Line, m.Column)
			mutant := s.mutant(m.Type, start, end)
			mutant.Package, mutant.Status = p.Dir, statuses[m.Status]
			if mutant.Status == "" {
				return nil, fmt.Errorf("gremlins says %q of %s", m.Status, mutant.Name())
			}
			all = append(all, mutant)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("gremlins found nothing to change")
	}
	return all, nil
}

// token returns the bytes of the operator, or the word, that stands at a place.
func (s *source) token(line, column int) (start, end int) {
	for range line - 1 {
		start += 1 + bytes.IndexByte(s.text[start:], '\n')
	}
	start += column - 1
	const signs = "+-*/%&|^<>=!"
	letters := func(c rune) bool { return c < 'a' || c > 'z' }
	if rest := string(s.text[start:]); strings.ContainsAny(rest[:1], signs) {
		return start, start + len(rest) - len(strings.TrimLeft(rest, signs))
	} else if n := strings.IndexFunc(rest, letters); n > 0 {
		return start, start + n
	}
	return start, start + 1
}
