package call

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
)

// Kind says what a request is to the platform.
type Kind uint8

// What a request may be.
const (
	Page    Kind = iota // not REST: the platform renders a page, a file, a form
	Single              // one REST call
	Batch               // several REST calls in one request, see Call.Parts
	Refused             // no certain reading, see Call.Refusal
)

// String returns the word used in logs, vars and the output of classify.
func (k Kind) String() string {
	return [...]string{"page", "call", "batch", "refused"}[k]
}

// Form is the way in which a request names its route.
type Form uint8

// The addressing forms.
const (
	Pretty  Form = iota // the prefix in the path
	Query               // the variable rest_route, in the query or in a form body
	Aliased             // a rewrite rule of the site, see Alias
)

// Call is the reading of one request, or of one part of a batch.
type Call struct {
	Kind      Kind
	Route     string     // as the platform dispatches it, "/wp/v2/users": as sent, but no trailing slash
	Key       string     // Route in lower case and plain spelling, what patterns are matched against
	Method    string     // effective method, upper case
	Wire      string     // method of the request line
	Form      Form       // addressing form
	OwnPrefix bool       // in the pretty form, before and after rewrites by the first name of the prefix
	Posted    bool       // rest_route stands in the body
	Foreign   bool       // under the other platform's prefix: the gateway is set up for the wrong one
	Base      string     // where questions go: the path before the prefix, "" or "/blog", and in the query form the whole path
	Rewritten *Rewritten // nil unless a rewrite before the gateway has changed the path
	Parts     []*Call    // of an opened batch, each to be judged as if sent alone
	Refusal   *Refusal   // set where Kind is Refused

	opened bool    // see Open
	src    *source // where the parameters come from
}

// FormName returns the word for the way in which c names its route: "pretty", "query", "body"
// or "alias"; "" for a page and without a certain reading.
func (c *Call) FormName() string {
	switch {
	case c.Kind == Refused, c.Kind == Page:
		return ""
	case c.Form == Pretty:
		return "pretty"
	case c.Form == Aliased:
		return "alias"
	case c.Posted:
		return "body"
	}
	return "query"
}

// Close removes what Read kept of the request's body, unless another reading shares it.
// It is safe on every Call, nil included, and more than once.
func (c *Call) Close() {
	if c == nil || c.src == nil || c.src.closed.Swap(true) {
		return
	}
	c.src.keep(&c.src.listed, 0)
	c.src.keep(&c.src.held, 0)
	if c.src.body != nil {
		c.src.body.leave()
	}
}

// Settle gives back the memory that reading the body took. It is called before the request
// is sent on. Later questions about the call read the body again. The parts of a batch keep
// what answers are rewritten by, their routes and methods and whether they embed; a question
// for a parameter of theirs has no certain answer any more. Settle is safe on every Call, nil
// included.
func (c *Call) Settle() {
	if c == nil || c.src == nil {
		return
	}
	c.settleParts()
	c.src.postedVars, c.src.postedRead, c.src.members, c.src.jsonRead, c.src.settled = nil, false, nil, false, true
	c.src.keep(&c.src.listed, 0)
	c.SettleAddress()
	if c.src.body != nil {
		c.src.body.settle()
	}
}

// SettleAddress is Settle for what was worked out about the address alone. It is called before a
// refusal is sent.
func (c *Call) SettleAddress() {
	if c != nil && c.src != nil {
		c.src.changed.Settle()
	}
}

// embedVar asks the platform to embed what an answer links to.
const embedVar = "_embed"

// Embeds tells whether the answer to c may hold embedded objects, of c or of one of its parts.
func (c *Call) Embeds() bool {
	_, embeds := c.QueryVariable(embedVar)
	return embeds || slices.ContainsFunc(c.Parts, (*Call).Embeds)
}

// page is the reading of every page without a form. It is one value, so that a page costs
// nothing.
var page = &Call{Kind: Page}

// Bent tells whether c, or a part of it, fits one of the patterns only since the platform takes a
// dot of the pattern for any byte, see [routes.Bent].
func (c *Call) Bent(patterns []routes.Pattern) bool {
	return routes.Bent(patterns, c.Key, c.Route) || slices.ContainsFunc(c.Parts, func(part *Call) bool { return part.Bent(patterns) })
}
