package call

import (
	"strings"
	"unsafe"
)

// What a part takes beside its route: until the batch is judged, and afterwards.
const (
	costOfSettled = int64(unsafe.Sizeof(Call{}))
	costOfPart    = costOfSettled + int64(unsafe.Sizeof(source{})+unsafe.Sizeof(part{}))
)

// countParts counts the parts for as long as the request lasts: a part can be a few bytes.
func (c *Call) countParts() *Refusal {
	size := int64(0)
	for _, p := range c.Parts {
		size += costOfPart + int64(len(p.Route)+len(p.Key))
	}
	src := c.src.outlasting()
	return src.hold(&src.held, size)
}

// settleParts drops the fields of the parts, and counts what is left. What it keeps are copies: a
// text keeps the whole body that it is a slice of.
func (c *Call) settleParts() {
	if len(c.Parts) == 0 {
		return
	}
	plain, embedding, size := c.src.gone(""), c.src.gone(embedVar), int64(0)
	for _, p := range c.Parts {
		p.Route = strings.Clone(p.Route)
		size += costOfSettled + int64(len(p.Route))
		if p.Key = strings.Clone(p.Key); p.Key == p.Route {
			p.Key = p.Route
		} else {
			size += int64(len(p.Key))
		}
		_, embeds := p.QueryVariable(embedVar)
		if p.src = plain; embeds {
			p.src = embedding
		}
	}
	src := c.src.outlasting()
	src.keep(&src.held, size)
}

// gone is what is left of the sources of parts with a query, for all of them.
func (s *source) gone(query string) *source {
	return &source{rd: s.rd, query: query, part: &part{gone: true}}
}

// outlasting is the source that s ends with.
func (s *source) outlasting() *source {
	if s.first != nil {
		return s.first
	}
	return s
}

// hold adds size bytes to an account of s. It never waits: what others hold of the share may last
// as long as their requests.
func (s *source) hold(account *int64, size int64) *Refusal {
	counted := s.counted()
	*account += size
	if err := s.rd.site.Limits.Memory.Parts.Try(s.holder, s.counted()-counted); err != nil {
		*account -= size
		return noMemory(err)
	}
	return nil
}

// keep leaves size bytes of an account of s, and gives the others back.
func (s *source) keep(account *int64, size int64) {
	counted := s.counted()
	*account = min(*account, size)
	s.rd.site.Limits.Memory.Parts.Free(s.holder, counted-s.counted())
}

// counted is what the accounts of s take of the holder's share. As of a body, the first chunk is
// not counted, so that nobody can crowd out a small batch.
func (s *source) counted() int64 { return max(0, s.listed+s.held-chunkSize) }
