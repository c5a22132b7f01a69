package policy

// lock makes the links that judge while the site is locked: all, and the policy of the lockdown
// behind those that know why a request has no certain reading. A closed without New stands for none.
func (c *Chain) lock(closed Entry) {
	if closed.New == nil {
		return
	}
	l := newLink(NewConfigured(closed))
	l.always = true
	companion, _ := l.policy.(Companion)
	at := 0
	for i := range c.links {
		if c.links[i].reading != nil {
			at = i + 1
		}
		if companion != nil {
			companion.Accompany(c.links[i].policy)
		}
	}
	c.locked = append(append(append([]link(nil), c.links[:at]...), l), c.links[at:]...)
}

// linksFor returns the links that judge r.
func (c *Chain) linksFor(r *Request) []link {
	if r.InForce.Locked {
		return c.locked
	}
	return c.links
}
