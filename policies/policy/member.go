package policy

// Member is a policy that is on.
type Member struct {
	Name     string
	Codes    []Code // see Entry.Codes
	Policy   Policy
	Settings Settings
	// Observes tells whether the policy refuses and changes nothing while the switches of
	// the site say f.
	Observes func(f InForce) bool
}

// Site returns the site that the chain guards.
func (c *Chain) Site() *Site { return c.site }

// Mode returns the mode of the directive.
func (c *Chain) Mode() Mode { return c.mode }

// Policies returns the policies that are on, in order.
func (c *Chain) Policies() []Member { return c.members(c.links) }

// WithLockdown returns the policies that are on and the lockdown, in order.
func (c *Chain) WithLockdown() []Member { return c.members(c.locked) }

func (c *Chain) members(links []*link) []Member {
	members := make([]Member, len(links))
	for i, l := range links {
		members[i] = Member{l.name, l.codes, l.policy, l.settings, func(f InForce) bool { return c.observes(l, f) }}
	}
	return members
}
