package call

// WithoutOverride returns what c is to a server that drops what overrides the method: the header
// X-HTTP-Method-Override, as some do with headers that they do not know, or the query
// (docs/platform I.13, B9). It is the same call with the method of the request line, and nil where
// that is the method of c. The result shares the body of c, and ends with c. Where both are batches
// it has no Parts, since those of c are the same.
func (c *Call) WithoutOverride() *Call {
	s := c.src
	if c.Kind != Single && c.Kind != Batch || c.Method == c.Wire || s == nil || s.part != nil {
		return nil
	}
	other := *c
	other.Kind, other.Method, other.Parts, other.opened = Single, c.Wire, nil, c.Kind == Batch
	other.src = &source{rd: s.rd, holder: s.holder, r: s.r, query: s.query, changed: s.changed, wire: s.wire, method: s.wire, body: s.body, first: s}
	if s.rd.isBatch(&other, other.Method) {
		other.Kind = Batch
	}
	return &other
}
