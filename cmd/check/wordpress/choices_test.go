package wordpress

import (
	"math/bits"

	"pgregory.net/rapid"
)

// drawn takes choices from rapid, which can then shrink them. rapid's own integers are
// mostly small ones; a choice is made of its bits, which are fair.
type drawn struct{ t *rapid.T }

// IntN implements grammar.Choices.
func (d drawn) IntN(n int) int {
	if n == 1 {
		return 0
	}
	return choice(n).Draw(d.t, "choice")
}

// choice returns a generator of numbers below n. It is a generator of its own, so that
// rapid leaves out whole choices.
func choice(n int) *rapid.Generator[int] {
	width := bits.Len(uint(n - 1))
	if n&(n-1) != 0 {
		width += 4 // to be fair where n is no power of two
	}
	return rapid.Custom(func(t *rapid.T) int {
		x := 0
		for range width {
			x <<= 1
			if bit.Draw(t, "bit") {
				x++
			}
		}
		return x * n >> width
	})
}

var bit = rapid.Bool()

// messages generates the requests for a site.
func messages(site *site) *rapid.Generator[*message] {
	return rapid.Custom(func(t *rapid.T) *message { return newGenerator(drawn{t}, site).next() })
}
