package policy

// Origin is where a rule comes from. Readers ask for it: the rule's text is for people.
type Origin string

// The origins. A request without a certain reading, and a policy that is one rule, have none.
const (
	OriginOwn     Origin = "own"      // a line of the site's owner
	OriginBuiltIn Origin = "built-in" // a guard of what is known to leak
	OriginPlugin  Origin = "plugin"   // a line `allow plugin` or `deny plugin`
	OriginSwitch  Origin = "switch"   // a line that is switched on while the gateway runs
	OriginDefault Origin = "default"  // what holds where no rule matches, such as login_only
)

// Origin returns where the rule comes from.
func (r *Rule) Origin() Origin {
	switch {
	case r.origin != "":
		return r.origin
	case r.From != "":
		return OriginPlugin
	}
	return OriginOwn
}

// Signed tells whether the rule admits whoever signs.
func (r *Rule) Signed() bool { return r.who == BySignature }

// lineOfPlugin returns what the rule says, where its name is only the plugin that it comes from.
func (r *Rule) lineOfPlugin() string {
	if r.Origin() != OriginPlugin {
		return ""
	}
	return r.Line()
}

// Yields tells whether a rule of the owner's that stands before r, or in place of a default, decides
// instead of it.
func (r *Rule) Yields() bool {
	return !r.OnlyTakesAway() && (r.Origin() == OriginOwn || r.Origin() == OriginDefault)
}
