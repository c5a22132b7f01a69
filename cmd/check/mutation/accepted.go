package mutation

import (
	"fmt"
	"slices"
	"strings"
)

// Accepted are survivors with the reason why no test notices them, by [Mutant.Name].
type Accepted map[string]string

// ReadAccepted reads a list: the name of a mutant in two lines, then the reason in a third, or more, and an empty line.
// Lines that begin with # are comments.
func ReadAccepted(text string) (Accepted, error) {
	all := Accepted{}
	for entry := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.Lines(entry) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		if len(lines) < 3 {
			return nil, fmt.Errorf("%q is not a package with function and operator, a line of code, and a reason", strings.Join(lines, "\n"))
		}
		name := lines[0] + "\n\t" + lines[1]
		if _, ok := all[name]; ok {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		all[name] = strings.Join(lines[2:], " ")
	}
	return all, nil
}

// Stale returns the names whose code is gone: the function, or the line in it.
func (a Accepted) Stale(root string) (stale []string, err error) {
	plain := strings.NewReplacer("[", "", "]", "") // the marks of what is changed
	for name := range a {
		place, text, _ := strings.Cut(name, "\n\t")
		words := strings.Fields(place)
		if len(words) != 3 {
			return nil, fmt.Errorf("%q is not package, function and operator", place)
		}
		files, err := Package{Dir: words[0]}.sources(root)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(s *source) bool { return strings.Contains(plain.Replace(s.code(words[1])), plain.Replace(text)) }) {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	return stale, nil
}

// code returns the text of a function in one line, "" if the file has none of that name.
func (s *source) code(function string) string {
	if function == "-" {
		return oneLine(s.text)
	}
	for _, d := range s.file.Decls {
		if start := s.offset(d.Pos()); s.function(start) == function {
			return oneLine(s.text[start:s.offset(d.End())])
		}
	}
	return ""
}
