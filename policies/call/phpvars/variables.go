package phpvars

import "strings"

// Variables are the variables of a query or a form. One is built when it is asked for, out of
// the pairs that may set it, and nothing is kept of it. Each question reads the whole text
// once. The zero value has no variables.
type Variables struct {
	text    string // undecoded
	most    int    // of pairs that count
	empties bool   // empty pairs count
	list    []pair // of a multipart form, in place of text
}

// pair is a decoded pair.
type pair struct{ name, value string }

// OfQuery returns the pairs of a raw query string, see [Query].
func OfQuery(raw string) Variables { return Variables{text: raw, most: MaxPairs} }

// OfForm returns the pairs of an urlencoded body, see [Form].
func OfForm(raw string) Variables { return Variables{text: raw, most: MaxPairs + 1, empties: true} }

// OfRawForm returns the pairs of a body that the core parses itself, see [RawForm].
func OfRawForm(raw string) Variables {
	raw, _, _ = strings.Cut(raw, "\x00")
	return OfQuery(raw)
}

// Get returns the variable name with elements down to a number of levels: at 1 only whether
// it is an array, at 2 the keys of the array, and so on. 0 is the whole variable.
func (p Variables) Get(name string, levels int) (v Value, set bool) {
	vars := Array{levels: levels}
	p.register(&vars, name)
	return vars.Get(name)
}

// Names returns the names of all variables, in the order in which they were first set.
func (p Variables) Names() []string {
	vars := Array{levels: 1}
	p.register(&vars, "")
	return vars.keys
}

// Brackets returns how many brackets open in the names of the pairs that may set the variable
// name: no more arrays are built for it. It takes no memory.
func (p Variables) Brackets(name string) (n int) {
	raw := p.text
	for raw != "" {
		var pair string
		pair, raw = nextPair(raw)
		if fold(pair, name) == perhaps {
			sent, _, _ := strings.Cut(pair, "=")
			n += strings.Count(sent, "[") + strings.Count(sent, "%5B") + strings.Count(sent, "%5b")
		}
	}
	for _, pair := range p.list {
		if foldDecoded(pair.name, name) {
			n += strings.Count(pair.name, "[")
		}
	}
	return n
}

func (p Variables) all() *Array {
	vars := new(Array)
	p.register(vars, "")
	return vars
}

// register sets in a what the pairs set that may set the variable name, or with "" all pairs.
func (p Variables) register(a *Array, name string) {
	raw := p.text
	for n := 0; raw != "" && n < p.most; {
		var pair string
		pair, raw = nextPair(raw)
		if pair == "" && !p.empties {
			continue
		}
		if n++; name == "" || fold(pair, name) != other {
			a.add(pair)
		}
	}
	for _, pair := range p.list {
		if name == "" || foldDecoded(pair.name, name) {
			a.Register(pair.name, pair.value)
		}
	}
}
