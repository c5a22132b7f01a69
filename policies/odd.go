package policies

// Odd is something odd in the configuration of a chain, see docs/checks.md.
type Odd struct {
	Code string // "W04"
	At   string // "Caddyfile:12"; "" where no line is to blame
	Text string // what is odd and what to do, in one sentence
	Note bool   // it is a note for the reader, never a finding
}

// Odd returns what is odd in the rules of the chain: W04, W05, W06, W07 and W11 of
// docs/checks.md, in this order, and by line.
func (c *Chain) Odd() []Odd { return nil }
