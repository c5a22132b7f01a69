package policy

import "slices"

// lock makes the links that judge while the site, or a call of it, is closed by a switch: all, and the policy of the lockdown
// behind those at its beginning that know why a request has no certain reading. A closed without New stands for none.
func (c *Chain) lock(closed Entry) {
	if closed.New == nil {
		return
	}
	l := newLink(NewConfigured(closed))
	l.always = true
	companion, _ := l.policy.(Companion)
	at := 0
	for at < len(c.links) && c.links[at].reading != nil {
		at++
	}
	for _, other := range c.links {
		if companion != nil {
			companion.Accompany(other.policy)
		}
	}
	c.locked = slices.Insert(slices.Clone(c.links), at, l)
}

// linksFor returns the links that judge r.
func (c *Chain) linksFor(r *Request) []*link {
	if r.InForce.Enforces() {
		return c.locked
	}
	return c.links
}
