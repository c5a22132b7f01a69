package call

// WithoutOverride returns what c is to a server that drops the header
// X-HTTP-Method-Override, as some do with headers that they do not know: the same call with the
// method of the request line. It is nil where the header changes nothing. The result shares the
// body of c, and ends with c. Where both are batches it has no Parts, since those of c are the
// same.
func (c *Call) WithoutOverride() *Call {
	s := c.src
	if c.Kind != Single && c.Kind != Batch || c.Method == c.Wire || s == nil || s.part != nil {
		return nil
	}
	if _, from, _ := effective(c.Wire, s.query, s.r.Header); from != inHeader {
		return nil
	}
	other := *c
	other.Kind, other.Method, other.Parts, other.opened = Single, c.Wire, nil, c.Kind == Batch
	other.src = &source{rd: s.rd, holder: s.holder, r: s.r, query: s.query, wire: s.wire, method: s.wire, body: s.body, first: s}
	if s.rd.isBatch(&other) {
		other.Kind = Batch
	}
	return &other
}
