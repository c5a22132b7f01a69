// Package mutation changes a package in one small place at a time, and tells which of these mutants its tests notice.
//
// Most mutants are those of gremlins, which swaps one operator for another. It cannot take a condition away, as
// [Conditions] does: `a && b` becomes `b`. Its INVERT_LOGICAL is left out for that: who notices the two dropped
// conditions also notices `a || b`.
package mutation

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Package is one whose mutants are tried.
type Package struct {
	Dir   string   // below the root of the repository, "policies/access"
	Files []string // those of it that decide; empty means all
	Tests []string // the packages whose tests judge it, besides its own
}

// Run is how mutants are tried.
type Run struct {
	Root   string // of the repository
	Module string // its path in Go
	Dir    string // for temporary files
	// Limit is how long the tests of one mutant may take before they count as stuck.
	Limit time.Duration
}

// Status is what became of a mutant.
type Status string

// What becomes of mutants. One on which the tests do not end is noticed as well as one that they fail on.
const (
	Killed    Status = "killed"
	Survived  Status = "survived"
	TimedOut  Status = "timed out"
	NotViable Status = "not viable" // it does not compile
)

// Mutant is one changed place. Its text is the line, or lines, of the change, with the changed part in brackets:
// `return [c.Kind == caller.User] && c.Can(name)`. Together with function and operator that is its name, which
// stays the same when lines are added elsewhere.
type Mutant struct {
	Package  string // "policies/access"
	Function string // "Access.apply"; "-" outside of all functions
	Operator string // "DROPPED_CONDITION"
	Text     string
	Place    string // "access.go:12"; no part of the name
	Status   Status
}

// Name is what an accepted survivor is known by.
func (m Mutant) Name() string {
	return m.Package + " " + m.Function + " " + m.Operator + "\n\t" + m.Text
}

// covers tells whether mutants of a file of p are tried.
func (p Package) covers(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && (len(p.Files) == 0 || slices.Contains(p.Files, name))
}

// source is a file of Go.
type source struct {
	name string // of the file, without directory
	text []byte
	set  *token.FileSet
	file *ast.File
}

// Check tells whether the files of p are there, below root.
func (p Package) Check(root string) error {
	_, err := p.sources(root)
	return err
}

// sources reads the files of p below root.
func (p Package) sources(root string) (all []*source, err error) {
	paths, err := filepath.Glob(filepath.Join(root, p.Dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !p.covers(filepath.Base(path)) {
			continue
		}
		s := &source{name: filepath.Base(path), set: token.NewFileSet()}
		if s.text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if s.file, err = parser.ParseFile(s.set, path, s.text, 0); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) < max(1, len(p.Files)) {
		return nil, fmt.Errorf("%s has not all files of %q", p.Dir, p.Files)
	}
	return all, nil
}

// mutant describes a change of the bytes from start up to end.
func (s *source) mutant(operator string, start, end int) Mutant {
	return Mutant{
		Function: s.function(start), Operator: operator, Text: s.marked(start, end),
		Place: fmt.Sprintf("%s:%d", s.name, 1+bytes.Count(s.text[:start], []byte("\n"))),
	}
}

// function returns the name of the function that the byte at offset is in.
func (s *source) function(offset int) string {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || offset < s.offset(f.Pos()) || offset >= s.offset(f.End()) {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		return of.(*ast.Ident).Name + "." + f.Name.Name
	}
	return "-"
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// marked returns the lines of the bytes from start up to end in one, with brackets around these bytes.
func (s *source) marked(start, end int) string {
	first := 1 + bytes.LastIndexByte(s.text[:start], '\n')
	last := len(s.text)
	if n := bytes.IndexByte(s.text[end:], '\n'); n >= 0 {
		last = end + n
	}
	return oneLine(fmt.Appendf(nil, "%s[%s]%s", s.text[first:start], s.text[start:end], s.text[end:last]))
}

func oneLine(code []byte) string { return strings.Join(strings.Fields(string(code)), " ") }
