package suggest

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"net/netip"
	"slices"
)

const (
	// maxSample is up to where the clients and the scanners of a row are counted.
	maxSample = 100
	// maxOthers is up to where the users of a row, and those of whom nothing is known, are counted,
	// and up to where the report counts scanners.
	maxOthers = 20
	// maxSigns bounds the clients of which something is kept that may tell a scanner.
	maxSigns = 1 << 19
	// enough is how many calls that go nowhere make a scanner.
	enough = 10
)

// customer is how many bits of an IPv6 address tell one line of a customer from another:
// providers give a line up to this much.
const customer = 48

// clientOf returns the number of a client: of an IPv4 address, or of an IPv6 network that one
// customer may have. ok is false if the log has no address.
func clientOf(address string) (client uint64, ok bool) {
	if address == "" {
		return 0, false
	}
	if a, err := netip.ParseAddr(address); err == nil {
		if a = a.Unmap().WithZone(""); a.Is6() {
			if p, err := a.Prefix(customer); err == nil {
				a = p.Addr()
			}
		}
		address = a.String()
	}
	sum := sha256.Sum256([]byte(address)) // nobody can choose addresses with equal or small numbers
	return binary.BigEndian.Uint64(sum[:]), true
}

// sample is a set of clients. It holds the smallest numbers, so that the order in which they
// come makes no difference.
type sample struct {
	clients []uint64 // sorted
	more    bool     // the set has others
}

// add adds a client to a set that holds up to limit.
func (s *sample) add(client uint64, limit int) {
	i, there := slices.BinarySearch(s.clients, client)
	switch {
	case there:
	case len(s.clients) < limit:
		s.clients = slices.Insert(s.clients, i, client)
	default:
		s.more = true
		if i < limit {
			copy(s.clients[i+1:], s.clients[i:limit-1])
			s.clients[i] = client
		}
	}
}

// clients tells scanners from others.
type clients struct {
	signs map[uint64]uint8 // up to enough
	limit int
	// beyond is set once there were too many: clients with larger numbers are forgotten, and
	// nothing is known of them.
	beyond uint64
}

// sign adds n signs that a client is a scanner.
func (c *clients) sign(client uint64, n uint8) {
	if c.beyond > 0 && client > c.beyond {
		return
	}
	c.signs[client] = min(c.signs[client]+n, enough)
	if len(c.signs) > 2*c.limit {
		c.forget()
	}
}

// forget keeps the clients with the smallest numbers.
func (c *clients) forget() {
	if len(c.signs) <= c.limit {
		return
	}
	all := slices.Sorted(maps.Keys(c.signs))
	for _, client := range all[c.limit:] {
		delete(c.signs, client)
	}
	c.beyond = max(all[c.limit-1], 1)
}

// standing is what the signs tell of a client.
type standing uint8

const (
	honest  standing = iota // certainly no scanner, by all records
	scanner                 // certainly one
	unsure                  // forgotten: there were too many clients with signs
)

func (c *clients) standing(client uint64) standing {
	switch {
	case client > c.last():
		return unsure
	case c.signs[client] >= enough:
		return scanner
	}
	return honest
}

// last is the largest number of a client of which anything is known.
func (c *clients) last() uint64 {
	if c.beyond > 0 {
		return c.beyond
	}
	return math.MaxUint64
}
