package routes

// Meets tells whether some key matches p as well as other.
func (p Pattern) Meets(other Pattern) bool {
	for i := 0; i < len(p.segments) || i < len(other.segments); i++ {
		switch {
		case i >= len(p.segments):
			return p.rest
		case i >= len(other.segments):
			return other.rest
		}
		a, b := p.segments[i], other.segments[i]
		if a != b && !IsWildcard(a) && !IsWildcard(b) {
			return false
		}
	}
	return true
}
