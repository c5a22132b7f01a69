package index

import "weak"

// Parts implements hosts.Sized: indexes share equal groups. The sizes are estimates, and
// rather too large. A part keeps nothing alive.
func (x *Index) Parts(f func(part any, bytes int)) {
	if x == nil {
		return
	}
	for _, g := range x.groups {
		f(weak.Make(g), g.bytes)
	}
	f(weak.Make(x), 128+8*len(x.groups))
}

// size returns about how many bytes the group takes, with all its entries: other groups may
// have the same ones.
func (g *group) size() int {
	bytes := 256 + 2*len(g.namespace) + 64*len(g.below)
	for _, e := range g.entries {
		if e != anyRoute {
			bytes += e.size()
		}
	}
	return bytes
}

// What an entry takes beside its texts, and each byte of an expression where it is compiled.
const (
	entryBytes    = 240
	segmentBytes  = 64
	compiledBytes = 80
)

func (e *entry) size() int {
	bytes := entryBytes + 2*len(e.name) + 2*len(e.prefix) + len(e.text) + segmentBytes*len(e.segments)
	if e.weight > 0 {
		bytes += compiledBytes * len(e.text)
	}
	return bytes
}
