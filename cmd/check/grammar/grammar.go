// Package grammar makes requests that may be read in several ways, from what
// stands in the RFCs 9110, 9112, 9113 and 9114 and in the sources of PHP and
// WordPress. It imports nothing of the gateway and follows none of its rules: what
// it makes must find what nobody thought of there. A test holds that.
package grammar

import "math/rand/v2"

// Generator makes requests, the same ones from the same seed.
type Generator struct{ *rand.Rand }

// New returns a Generator. Several with one seed and different streams differ.
func New(seed, stream uint64) *Generator {
	return &Generator{rand.New(rand.NewPCG(seed, stream))}
}

// pick returns one of the alternatives.
func pick[T any](g *Generator, of ...T) T { return of[g.IntN(len(of))] }

// oneIn is true once in n times.
func (g *Generator) oneIn(n int) bool { return g.IntN(n) == 0 }
