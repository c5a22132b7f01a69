// Package grammar makes requests that may be read in several ways, from what
// stands in the RFCs 9110, 9112, 9113 and 9114 and in the sources of PHP and
// WordPress. It imports nothing of the gateway and follows none of its rules: what
// it makes must find what nobody thought of there. A test holds that.
package grammar

import "math/rand/v2"

// Choices are what a request is made of. A test library that implements them can look
// for smaller choices, and so for a simpler request.
type Choices interface {
	// IntN returns a number from 0 to n-1, each as likely as the others. 0 is the simplest.
	IntN(n int) int
}

// Generator makes requests, the same ones from the same choices.
type Generator struct{ Choices }

// New returns a Generator of random choices. Several with one seed and different
// streams differ.
func New(seed, stream uint64) *Generator {
	return From(rand.New(rand.NewPCG(seed, stream)))
}

// From returns a Generator that takes its choices from c.
func From(c Choices) *Generator { return &Generator{c} }

// pick returns one of the alternatives, the simplest of which comes first.
func pick[T any](g *Generator, of ...T) T { return of[g.IntN(len(of))] }

// rare is IntN with n-1 for the simplest.
func (g *Generator) rare(n int) int { return n - 1 - g.IntN(n) }

// oneIn is true once in n times, and false in the simplest case.
func (g *Generator) oneIn(n int) bool { return g.rare(n) == 0 }

// shuffle puts a list into any order; the simplest is the one that it has.
func shuffle[T any](g *Generator, list []T) {
	for i := 1; i < len(list); i++ {
		j := g.rare(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
